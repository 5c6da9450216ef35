// The rows of the report as CSV, with all digits. Names are quoted as the program quotes them.

import type { Report } from "./report";

const field = (name: string) => (/[",\r\n]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);

export function csv_of(report: Report): string {
  const lines = [report.columns.map((c) => field(c.name)).join(",")];
  for (let i = 0; i < report.rows; ++i)
    lines.push(report.columns.map((c) => (Number.isFinite(c.values[i]) ? String(c.values[i]) : "nan")).join(","));
  return lines.join("\n") + "\n";
}
