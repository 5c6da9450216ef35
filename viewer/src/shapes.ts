// What the picture is made of. A shape is built once and put where the row says, again and again.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { colour } from "./colours";
import type { Item, Quadruple, Triple, View } from "./report";

export interface Shape {
  object: THREE.Object3D;
  show(row: number): void;
  recolour(): void;
  resize?(width: number, height: number): void;
}

/// What shapes need to know of the whole.
export interface Stage {
  view: View;
  rows: number;
  row_time: Float64Array;
  size: number; // of everything that is ever seen
  centre: THREE.Vector3; // of the same
  arrow_size: number; // what arrows are measured by: of the bodies, where they go a long way
  force_scale(): number; // length of an arrow per unit of force
  forces_shown(): boolean;
}

const up = new THREE.Vector3(0, 1, 0);
const z_axis = new THREE.Vector3(0, 0, 1);

export function vector_at(view: View, at: Triple, row: number, out: THREE.Vector3): THREE.Vector3 {
  return out.set(view.channels[at[0]](row), view.channels[at[1]](row), view.channels[at[2]](row));
}
const finite = (v: THREE.Vector3) => Number.isFinite(v.x + v.y + v.z);

/// Between two rows the shorter way round; q and −q are the same turn.
function turn_at(view: View, turn: Quadruple, row: number, out: THREE.Quaternion) {
  const i = Math.floor(row), f = row - i;
  const at = (r: number, q: THREE.Quaternion) =>
    q.set(view.channels[turn[1]](r), view.channels[turn[2]](r), view.channels[turn[3]](r), view.channels[turn[0]](r)).normalize();
  at(i, out);
  if (f > 0) out.slerp(at(i + 1, new THREE.Quaternion()), f);
  return out;
}

function solid(name: string | undefined, other: string, more: THREE.MeshStandardMaterialParameters = {}) {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.05, ...more });
  const recolour = () => material.color.set(colour(name, other));
  recolour();
  return { material, recolour };
}

/// A unit cylinder along y between two points.
function put_between(mesh: THREE.Object3D, a: THREE.Vector3, b: THREE.Vector3, width: number) {
  const d = new THREE.Vector3().subVectors(b, a), length = d.length();
  mesh.visible = finite(a) && finite(b) && length > 0;
  if (!mesh.visible) return;
  mesh.position.copy(a);
  mesh.quaternion.setFromUnitVectors(up, d.divideScalar(length));
  mesh.scale.set(width, length, width);
}

function cylinder(radius_top = 1, radius_bottom = 1, height = 1, sides = 28) {
  return new THREE.CylinderGeometry(radius_top, radius_bottom, height, sides).translate(0, height / 2, 0);
}

function shadows(object: THREE.Object3D) {
  object.traverse((o) => {
    if (o instanceof THREE.Mesh) o.castShadow = o.receiveShadow = true;
  });
  return object;
}

function point(stage: Stage, item: Item & { kind: "point" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = solid(item.colour, "ink");
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), material);
  const object = shadows(mesh);
  return {
    object, recolour,
    show(row) {
      vector_at(view, item.at, row, mesh.position);
      mesh.visible = finite(mesh.position);
      mesh.scale.setScalar(view.channels[item.radius](row) || 0.013 * size);
    },
  };
}

function rod(stage: Stage, item: Item & { kind: "rod" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = solid(item.colour, "steel", { metalness: 0.25, roughness: 0.45 });
  const object = new THREE.Group();
  const bar = new THREE.Mesh(cylinder(), material);
  const ends = [0, 1].map(() => new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), material));
  object.add(bar, ...ends);
  shadows(object);
  const a = new THREE.Vector3(), b = new THREE.Vector3();
  return {
    object, recolour,
    show(row) {
      const radius = view.channels[item.radius](row) || 0.007 * size;
      vector_at(view, item.from, row, a);
      vector_at(view, item.to, row, b);
      object.visible = finite(a) && finite(b);
      if (!object.visible) return;
      put_between(bar, a, b, radius);
      ends[0].position.copy(a);
      ends[1].position.copy(b);
      for (const end of ends) end.scale.setScalar(radius * 1.001);
    },
  };
}

/// A coil of unit length and radius along y, with straight ends. Lines keep their width however it is stretched.
function coil(turns: number): Float32Array {
  const points = [0, 0, 0, 0, 0.06, 0];
  const count = 28 * turns;
  for (let i = 0; i <= count; ++i) {
    const angle = (2 * Math.PI * turns * i) / count;
    points.push(Math.cos(angle), 0.08 + (0.84 * i) / count, Math.sin(angle));
  }
  points.push(0, 0.94, 0, 0, 1, 0);
  return new Float32Array(points);
}

function spring(stage: Stage, item: Item & { kind: "spring" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = fat_line(item.colour, "green", 3);
  const object = new Line2(new LineGeometry().setPositions(coil(item.turns)) as LineGeometry, material);
  object.frustumCulled = false;
  const a = new THREE.Vector3(), b = new THREE.Vector3();
  return {
    object, recolour,
    show(row) {
      put_between(object, vector_at(view, item.from, row, a), vector_at(view, item.to, row, b),
        view.channels[item.radius](row) || 0.022 * size);
    },
    resize: (w, hh) => material.resolution.set(w, hh),
  };
}

function disc(stage: Stage, item: Item & { kind: "disc" }): Shape {
  const { view, size } = stage;
  const face = solid(item.colour, "blue", { side: THREE.DoubleSide, transparent: true, opacity: 0.45, depthWrite: false });
  const rim = solid(item.colour, "blue");
  const mark = solid("ink", "ink");
  const object = new THREE.Group(), unit = new THREE.Group();
  // Its axis is z; spokes make the turning seen.
  const plate = new THREE.Mesh(new THREE.CylinderGeometry(0.97, 0.97, 1, 64).rotateX(Math.PI / 2), face.material);
  const ring = new THREE.Mesh(new THREE.TorusGeometry(item.hollow ? 1 : 0.97, item.hollow ? 0.02 : 0.035, 14, 96), rim.material);
  unit.add(ring);
  if (!item.hollow) unit.add(plate);
  for (let k = 0; k < 3 && !item.hollow; ++k) {
    const spoke = new THREE.Mesh(new THREE.BoxGeometry(1.9, 0.035, 0.05).rotateZ((k * Math.PI) / 3), rim.material);
    unit.add(spoke);
  }
  const dot = new THREE.Mesh(new THREE.SphereGeometry(0.07, 20, 14).translate(0.8, 0, 0), mark.material);
  const hub = new THREE.Mesh(new THREE.CylinderGeometry(0.08, 0.08, 0.12, 24).rotateX(Math.PI / 2), mark.material);
  if (!item.hollow) unit.add(dot, hub);
  object.add(unit);
  shadows(object);
  return {
    object,
    recolour() {
      face.recolour(), rim.recolour(), mark.recolour();
    },
    show(row) {
      vector_at(view, item.at, row, object.position);
      object.visible = finite(object.position);
      turn_at(view, item.turn, row, object.quaternion);
      const r = view.channels[item.radius](row) || 0.1 * size;
      unit.scale.setScalar(r);
      plate.scale.z = Math.max(view.channels[item.thickness](row) / r, 0.02);
    },
  };
}

function sphere(stage: Stage, item: Item & { kind: "sphere" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = solid(item.colour, "blue", { roughness: 0.4 });
  const object = new THREE.Group();
  const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 48, 32), material);
  object.add(ball);
  const turns = item.turn.some((c, i) => view.channels[c](0) !== (i === 0 ? 1 : 0) || view.channels[c](stage.rows - 1) !== (i === 0 ? 1 : 0));
  const mark = solid("ink", "ink");
  if (turns)
    for (const axis of [0, 1])
      object.add(new THREE.Mesh(new THREE.TorusGeometry(1.0, 0.03, 10, 64).rotateY((axis * Math.PI) / 2), mark.material));
  shadows(object);
  return {
    object,
    recolour() {
      recolour(), mark.recolour();
    },
    show(row) {
      vector_at(view, item.at, row, object.position);
      object.visible = finite(object.position);
      turn_at(view, item.turn, row, object.quaternion);
      object.scale.setScalar(view.channels[item.radius](row) || 0.03 * size);
    },
  };
}

function box(stage: Stage, item: Item & { kind: "box" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = solid(item.colour, "blue");
  const edge = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 });
  const geometry = new THREE.BoxGeometry(1, 1, 1);
  const object = new THREE.Group();
  object.add(new THREE.Mesh(geometry, material), new THREE.LineSegments(new THREE.EdgesGeometry(geometry), edge));
  shadows(object);
  const s = new THREE.Vector3();
  const paint = () => (recolour(), edge.color.set(colour("ink")), undefined);
  paint();
  return {
    object, recolour: paint,
    show(row) {
      vector_at(view, item.at, row, object.position);
      object.visible = finite(object.position);
      turn_at(view, item.turn, row, object.quaternion);
      vector_at(view, item.size, row, s);
      const thin = view.dimension === 2 ? 0.01 * size : 0.004 * size;
      object.scale.set(s.x || thin, s.y || thin, s.z || thin);
    },
  };
}

/// Flat triangles: files say little of where a surface is round.
function mesh(stage: Stage, item: Item & { kind: "mesh" }): Shape {
  const { view } = stage;
  const { material, recolour } = solid(item.colour, "steel", { flatShading: true, side: THREE.DoubleSide });
  const geometry = new THREE.BufferGeometry();
  const { positions, corners } = view.meshes[item.mesh];
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setIndex(new THREE.BufferAttribute(corners, 1));
  const object = shadows(new THREE.Mesh(geometry, material));
  const s = new THREE.Vector3();
  return {
    object, recolour,
    show(row) {
      vector_at(view, item.at, row, object.position);
      object.visible = finite(object.position);
      turn_at(view, item.turn, row, object.quaternion);
      object.scale.copy(vector_at(view, item.scale, row, s));
    },
  };
}

function fat_line(name: string | undefined, other: string, width: number, more: Partial<THREE.ShaderMaterialParameters> & { dashed?: boolean } = {}) {
  const material = new LineMaterial({ linewidth: width, transparent: true, ...more });
  const recolour = () => material.color.set(colour(name, other));
  recolour();
  return { material, recolour };
}

function line(stage: Stage, item: Item & { kind: "line" }): Shape {
  const { view, size } = stage;
  const { material, recolour } = fat_line(item.colour, "grey", 2.5, { dashed: item.dashed });
  if (item.dashed) material.dashSize = material.gapSize = 0.02 * size;
  const geometry = new LineGeometry();
  const object = new Line2(geometry, material);
  object.frustumCulled = false;
  const through = item.closed ? [...item.through, item.through[0]] : item.through;
  const positions = new Float32Array(3 * through.length);
  const p = new THREE.Vector3();
  return {
    object, recolour,
    show(row) {
      through.forEach((at, i) => vector_at(view, at, row, p).toArray(positions, 3 * i));
      object.visible = positions.every(Number.isFinite);
      if (!object.visible) return;
      geometry.setPositions(positions);
      if (item.dashed) object.computeLineDistances();
    },
    resize: (w, hh) => material.resolution.set(w, hh),
  };
}

/// The path of a point: where it has been strongly, where it will go faintly.
function trace(stage: Stage, item: Item & { kind: "trace" }): Shape {
  const { view, rows, row_time } = stage;
  const past = fat_line(item.colour, "orange", 2.2, { opacity: 0.9 });
  const whole = fat_line(item.colour, "orange", 1.4, { opacity: 0.22 });
  const stride = Math.max(1, Math.ceil(rows / 4000));
  const list: number[] = [], at_row: number[] = [];
  const p = new THREE.Vector3();
  for (let i = 0; i < rows; i += stride) {
    vector_at(view, item.of, i, p);
    if (!finite(p)) continue;
    list.push(p.x, p.y, p.z);
    at_row.push(i);
  }
  const object = new THREE.Group();
  if (at_row.length < 2) return { object, recolour() {}, show() {} };
  const all = new Float32Array(list);
  const faint = new Line2(new LineGeometry().setPositions(all) as LineGeometry, whole.material);
  const strong = new Line2(new LineGeometry(), past.material);
  faint.frustumCulled = strong.frustumCulled = false;
  if (item.seconds === null) object.add(faint);
  object.add(strong);
  const piece = new Float32Array(all.length + 3);
  const longest = new LineGeometry();
  longest.setPositions(piece);
  strong.geometry = longest;
  const buffer = (longest.attributes.instanceStart as THREE.InterleavedBufferAttribute).data as THREE.InstancedInterleavedBuffer;
  const segments = buffer.array as Float32Array;
  return {
    object,
    recolour() {
      past.recolour(), whole.recolour();
    },
    show(row) {
      const time = row_time[Math.floor(row)];
      let first = 0;
      if (item.seconds !== null) while (first < at_row.length && row_time[at_row[first]] < time - item.seconds) ++first;
      let count = 0;
      const put = (from: number, x: number, y: number, z: number) => {
        segments.set([all[3 * from], all[3 * from + 1], all[3 * from + 2], x, y, z], 6 * count++);
      };
      let k = first;
      for (; k + 1 < at_row.length && at_row[k + 1] <= row; ++k) put(k, all[3 * k + 3], all[3 * k + 4], all[3 * k + 5]);
      vector_at(view, item.of, row, p);
      if (k < at_row.length && at_row[k] <= row && finite(p)) put(k, p.x, p.y, p.z);
      longest.instanceCount = count;
      strong.visible = count > 0;
      buffer.needsUpdate = true;
    },
    resize(w, hh) {
      past.material.resolution.set(w, hh);
      whole.material.resolution.set(w, hh);
    },
  };
}

function arrow(stage: Stage, item: Item & { kind: "arrow" }): Shape {
  const { view, arrow_size: size, rows } = stage;
  const { material, recolour } = solid(item.colour, item.role === "user" ? "green" : item.role, { roughness: 0.7 });
  const object = new THREE.Group();
  const shaft = new THREE.Mesh(cylinder(1, 1, 1, 16), material);
  const head = new THREE.Mesh(cylinder(0, 1, 1, 24), material);
  object.add(shaft, head);
  const v = new THREE.Vector3();
  // Without a scale of its own the longest arrow of the run is a quarter of the picture.
  let own = 0;
  if (item.role === "user" && item.scale === null) {
    let largest = 0;
    for (let i = 0; i < rows; ++i) {
      const length = vector_at(view, item.vector, i, v).length();
      if (Number.isFinite(length)) largest = Math.max(largest, length);
    }
    own = largest > 0 ? (0.25 * size) / largest : 0;
  }
  const from = new THREE.Vector3();
  return {
    object, recolour,
    show(row) {
      const scale = item.role !== "user" ? stage.force_scale() : item.scale !== null ? view.channels[item.scale](row) : own;
      vector_at(view, item.at, row, from);
      vector_at(view, item.vector, row, v).multiplyScalar(scale);
      const length = Math.min(v.length(), 2 * size);
      object.visible = finite(from) && finite(v) && length > 1e-4 * size && (item.role === "user" || stage.forces_shown());
      if (!object.visible) return;
      object.position.copy(from);
      object.quaternion.setFromUnitVectors(up, v.normalize());
      const tip = Math.min(0.045 * size, 0.5 * length), width = 0.0065 * size;
      shaft.scale.set(width, length - tip, width);
      head.position.y = length - tip;
      head.scale.set(2.6 * width, tip, 2.6 * width);
    },
  };
}

function ground(stage: Stage, item: Item & { kind: "ground" }): Shape {
  const { view, size } = stage;
  const object = new THREE.Group();
  const normal = new THREE.Vector3();
  const edge = fat_line(item.colour, "grey", 2.5);
  const hatch = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.5 });
  const plate = new THREE.ShadowMaterial({ opacity: 0.22 });
  const grid = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.22 });
  const recolour = () => {
    edge.recolour();
    hatch.color.set(colour(item.colour, "grey"));
    grid.color.set(colour(item.colour, "grey"));
  };
  recolour();
  const given = view.channels[item.size](0), width = given || (view.dimension === 2 ? 2.5 : 2) * size;
  const aside = new THREE.Vector3();
  if (view.dimension === 2) {
    const half = width / 2, step = 0.025 * size;
    object.add(new Line2(new LineGeometry().setPositions([-half, 0, 0, half, 0, 0]) as LineGeometry, edge.material));
    const strokes: number[] = [];
    for (let x = -half; x <= half; x += step) strokes.push(x, 0, 0, x - 0.7 * step, -0.9 * step, 0);
    object.add(new THREE.LineSegments(new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(strokes, 3)), hatch));
  } else {
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(width, width), plate);
    plane.receiveShadow = true;
    object.add(plane);
    const lines: number[] = [], cells = 20;
    for (let i = 0; i <= cells; ++i) {
      const x = width * (i / cells - 0.5), e = width / 2;
      lines.push(x, -e, 0, x, e, 0, -e, x, 0, e, x, 0);
    }
    object.add(new THREE.LineSegments(new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(lines, 3)), grid));
  }
  return {
    object, recolour,
    show(row) {
      vector_at(view, item.at, row, object.position);
      vector_at(view, item.normal, row, normal);
      object.visible = finite(object.position) && normal.length() > 0;
      if (!object.visible) return;
      normal.normalize();
      object.quaternion.setFromUnitVectors(view.dimension === 2 ? up : z_axis, normal);
      // Without a size the ground has no end: it is drawn where the motion is.
      if (!given) object.position.add(aside.copy(stage.centre).sub(object.position).projectOnPlane(normal));
    },
    resize: (w, hh) => edge.material.resolution.set(w, hh),
  };
}

export function make_shape(stage: Stage, item: Item): Shape {
  switch (item.kind) {
    case "point": return point(stage, item);
    case "rod": return rod(stage, item);
    case "spring": return spring(stage, item);
    case "disc": return disc(stage, item);
    case "sphere": return sphere(stage, item);
    case "box": return box(stage, item);
    case "mesh": return mesh(stage, item);
    case "line": return line(stage, item);
    case "trace": return trace(stage, item);
    case "arrow": return arrow(stage, item);
    case "ground": return ground(stage, item);
  }
}
