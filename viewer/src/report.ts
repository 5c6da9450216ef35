// The data of a report as the program writes them (docs/reference/report.md), and as the page uses them.

export interface Column {
  name: string;
  group: string;
  values: Float64Array;
}
export interface MotionEvent {
  time: number;
  kind: string;
  name: string;
  constraints: string[];
}
/// A channel: one number per row, or one for all.
export type Channel = (row: number) => number;
export type Triple = [number, number, number];
export type Quadruple = [number, number, number, number];

interface Common {
  name: string;
  colour?: string;
}
export type Item = Common &
  (
    | { kind: "point"; at: Triple; radius: number }
    | { kind: "line"; through: Triple[]; closed: boolean; dashed: boolean }
    | { kind: "rod"; from: Triple; to: Triple; radius: number }
    | { kind: "spring"; from: Triple; to: Triple; radius: number; turns: number }
    | { kind: "disc"; at: Triple; radius: number; thickness: number; hollow: boolean; turn: Quadruple }
    | { kind: "sphere"; at: Triple; radius: number; turn: Quadruple }
    | { kind: "box"; at: Triple; size: Triple; turn: Quadruple }
    | { kind: "mesh"; at: Triple; scale: Triple; turn: Quadruple; mesh: number }
    | { kind: "ground"; at: Triple; normal: Triple; size: number }
    | { kind: "trace"; of: Triple; seconds: number | null }
    | { kind: "arrow"; at: Triple; vector: Triple; scale: number | null; role: "user" | "ideal" | "nonideal" | "control" }
  );
export interface Camera {
  from?: Triple;
  at?: Triple;
  up?: Triple;
  height?: number;
  follow?: Triple;
}
/// A surface from a file; three corners make a triangle.
export interface Mesh {
  positions: Float32Array;
  corners: Uint32Array;
}
export interface View {
  dimension: 2 | 3;
  automatic: boolean;
  camera: Camera;
  channels: Channel[];
  meshes: Mesh[];
  items: Item[];
}
export interface EquationBlock {
  name: string;
  latex: string;
  note: string;
}
export interface Report {
  program: string;
  title: string;
  about: string;
  model: { file: string; text: string; cut: boolean };
  parameters: { name: string; value: number }[];
  rows: number;
  columns: Column[];
  columns_left_out: number;
  row_spacing: string;
  events: MotionEvent[];
  events_left_out: number;
  summary: Record<string, unknown>;
  trust: string;
  equations: EquationBlock[];
  view: View | null;
  t: Float64Array;
}

function bytes_of(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

/* eslint-disable @typescript-eslint/no-explicit-any */
export function read_report(text: string): Report {
  const file: any = JSON.parse(text);
  if (file.format !== 1) throw new Error("this page cannot read its data: format " + String(file.format));
  const columns: Column[] = file.columns.map((c: any) => ({
    name: c.name,
    group: c.group,
    values: new Float64Array(bytes_of(c.f64)),
  }));
  let view: View | null = null;
  if (file.view) {
    const channels: Channel[] = file.view.channels.map((c: any) => {
      if (typeof c === "number") return () => c;
      const values = "column" in c ? columns[c.column].values : new Float32Array(bytes_of(c.f32));
      return (row: number) => {
        const i = Math.floor(row), f = row - i;
        return f > 0 && i + 1 < values.length ? values[i] * (1 - f) + values[i + 1] * f : values[i];
      };
    });
    const meshes: Mesh[] = (file.view.meshes ?? []).map((m: any) => ({
      positions: new Float32Array(bytes_of(m.positions)),
      corners: new Uint32Array(bytes_of(m.corners)),
    }));
    view = { ...file.view, channels, meshes };
  }
  return { ...file, columns, view, t: columns[0].values };
}

/// The (fractional) row at a time.
export function row_at(t: Float64Array, time: number): number {
  let low = 0, high = t.length - 1;
  if (!(time > t[0])) return 0;
  if (time >= t[high]) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  const width = t[high] - t[low];
  return width > 0 ? low + (time - t[low]) / width : low;
}
