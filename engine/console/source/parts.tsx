// Parts that several pages share.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { call, curl, Problem } from "./api";
import { bytes, characters, count, visible } from "./format";
import type { Resident } from "./types";

// Loaded is the reply of a request. Last is the newest reply, which may be that of an earlier request.
export interface Loaded<T> { value?: T; error?: Problem; last?: T; again: () => void }

// useLoad reads a path, and again when the path or the body changes: wait milliseconds after the last
// change. An empty path reads nothing.
export function useLoad<T>(path: string, body?: object, wait = 0): Loaded<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ value?: T; error?: Problem; of?: string }>({});
  const last = useRef<T>(undefined);
  const key = path + (body ? JSON.stringify(body) : "");
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    const timer = setTimeout(() => call<T>(path, body, stop.signal).then(
      (value) => setState({ value, of: key }),
      (error) => { if (!stop.signal.aborted) setState({ error, of: key }); }), wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key, turn]);
  const mine = state.of === key ? state : {};
  last.current = mine.value ?? last.current;
  return { value: mine.value, error: mine.error, last: last.current, again: () => setTurn(turn + 1) };
}

// Text shows a text of the data.
export const Text = ({ of }: { of?: string }) => <bdi>{visible(of ?? "")}</bdi>;

export function Panel(p: { title: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  const id = useId();
  return (
    <section class={`panel ${p.class ?? ""}`} aria-labelledby={id}>
      <header><h2 id={id}>{visible(p.title)}</h2>{p.aside}</header>
      {p.children}
    </section>
  );
}

// Failure shows an error of a request; with the text of a query it points at the fault.
export function Failure({ error, text }: { error?: Problem; text?: string }) {
  if (!error) return null;
  if (text !== undefined && error.offset !== undefined) {
    const before = characters(text, error.offset);
    const line = visible(text.replaceAll("\n", " "));
    const reason = error.message.split("\n")[0].replace(/^[a-z ]*: /, "");
    return (
      <div class="failure" role="alert">
        <p>{visible(reason)}</p>
        <pre aria-hidden="true">{line}{"\n"}{" ".repeat(before)}^</pre>
      </div>
    );
  }
  const reason = error.offset === undefined ? error.message : error.message.split("\n")[0]; // the further lines show the place
  return <div class="failure" role="alert"><p>{visible(reason)}</p></div>;
}

export const Waiting = ({ what }: { what: string }) => <p class="waiting" role="status">Reading {what}…</p>;

// Curl shows the command for a request.
export function Curl({ path, body }: { path: string; body?: object }) {
  const [copied, setCopied] = useState(false);
  const text = curl(path, body);
  return (
    <details class="curl">
      <summary>curl</summary>
      <pre tabIndex={0}>{visible(text)}</pre>
      <button type="button" onClick={() => navigator.clipboard?.writeText(text).then(() => setCopied(true))}>{copied ? "Copied" : "Copy"}</button>
    </details>
  );
}

// Facts is a list of names and values. Empty values are left out.
export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return <dl class="facts">{of.filter(([, v]) => v !== "" && v !== undefined && v !== null).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

export interface Field { head: string; number?: boolean; class?: string }

// Grid is a table of data.
export function Grid(p: { label: string; fields: Field[]; rows: ComponentChildren[][]; keys?: string[]; marked?: number }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={visible(p.label)}>
      <table>
        <caption class="hidden">{visible(p.label)}</caption>
        <thead><tr>{p.fields.map((f) => <th scope="col" class={f.number ? "number" : f.class} key={f.head}>{f.class === "bars" ? <span class="hidden">{f.head}</span> : visible(f.head)}</th>)}</tr></thead>
        <tbody>
          {p.rows.map((row, i) => (
            <tr key={p.keys?.[i] ?? i} class={p.marked === i ? "marked" : undefined}>
              {row.map((cell, j) => (j === 0
                ? <th scope="row" class={p.fields[0].number ? "number" : p.fields[0].class} key={j}>{cell}</th>
                : <td class={p.fields[j].number ? "number" : p.fields[j].class} key={j}>{cell}</td>))}
            </tr>))}
        </tbody>
      </table>
    </div>
  );
}

// Bar is a bar of a part of a whole, beside its number in words.
export function Bar({ part, of, kind = "" }: { part: number; of: number; kind?: string }) {
  const width = of > 0 ? Math.max(part > 0 ? 0.5 : 0, Math.min(100, (100 * part) / of)) : 0;
  return <span class={`bar ${kind}`} aria-hidden="true"><span style={{ width: `${width}%` }} /></span>;
}

export function Choice(p: { label: string; value: string; options: (string | [string, string])[]; onChange: (v: string) => void; disabled?: boolean }) {
  return (
    <label class="field">
      <span>{p.label}</span>
      <select value={p.value} disabled={p.disabled} onChange={(e) => p.onChange(e.currentTarget.value)}>
        {p.options.map((o) => { const [v, text] = typeof o === "string" ? [o, o] : o; return <option value={v} key={v}>{visible(text)}</option>; })}
      </select>
    </label>
  );
}

export function Residents({ of }: { of: Resident[] }) {
  return (
    <Grid label="Residence on processors" fields={[{ head: "Processor" }, { head: "Memory", number: true }, { head: "Placement" }]}
      rows={of.map((r) => [<Text of={r.processor} />, bytes(r.bytes), <Text of={(r.reason ?? "") + (r.reserve ? " (reserve)" : "")} />])} />
  );
}

export const Total = ({ n, unit }: { n: number; unit: string }) => <span class="total"><b>{count(n)}</b> {unit}</span>;

// useCheck asks the server about a text while it is typed. The error of a text that is not wrong in
// one place is left to the request that runs it.
export function useCheck<T>(path: string, text: string, body: object): Loaded<T> & { wrong?: Problem } {
  const checked = useLoad<T>(text.trim() ? path : "", body, 120);
  return { ...checked, wrong: checked.error?.offset === undefined ? undefined : checked.error };
}
