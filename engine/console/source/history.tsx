// The last queries of this browser, and answers as files.
import { useState } from "preact/hooks";
import { Text } from "./parts";
import { visits } from "./storage";

interface Past { place: string; text: string }

const key = "heddle-history";
const most = 50;

function past(): Past[] {
  try {
    return JSON.parse(visits.get(key) ?? "[]");
  } catch {
    return [];
  }
}

// remember puts the address of a query first. Text is what people read.
export function remember(place: string, text: string) {
  history.replaceState(null, "", place);
  visits.set(key, JSON.stringify([{ place, text }, ...past().filter((p) => p.place !== place)].slice(0, most)));
}

// History lists the queries of a page.
export function History({ page }: { page: string }) {
  const [all, setAll] = useState<Past[]>([]);
  return (
    <details class="history" onToggle={() => setAll(past().filter((p) => p.place.startsWith(`#/${page}?`)))}>
      <summary>History</summary>
      {all.length === 0 ? <p class="hint">No query yet.</p> : <>
        <ol>{all.map((p) => <li key={p.place}><a href={p.place}><Text of={p.text} /></a></li>)}</ol>
        <button type="button" onClick={() => { visits.set(key, "[]"); setAll([]); }}>Clear history</button>
      </>}
    </details>
  );
}

// cell is a value of CSV (RFC 4180). An apostrophe keeps a spreadsheet from taking a text for a formula.
function cell(v: unknown): string {
  let text = typeof v === "object" && v ? JSON.stringify(v) : String(v ?? "");
  if (typeof v === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// csv has a column for each member of any row.
export function csv(rows: Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  return [names, ...rows.map((r) => names.map((name) => r[name]))].map((r) => r.map(cell).join(",") + "\r\n").join("");
}

// Export saves rows as a file.
export function Export({ name, rows }: { name: string; rows: Record<string, unknown>[] }) {
  const save = (kind: string, type: string, text: string) => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([text], { type }));
    a.download = `${name}.${kind}`;
    a.click();
    URL.revokeObjectURL(a.href);
  };
  return (
    <span class="export">
      <button type="button" class="link" onClick={() => save("csv", "text/csv", csv(rows))}>CSV</button>{" "}
      <button type="button" class="link" onClick={() => save("json", "application/json", JSON.stringify(rows, null, 1))}>JSON</button>
    </span>
  );
}
