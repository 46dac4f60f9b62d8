// The bins of a column as bars. A range of bins can be selected by pointer and by keyboard.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, several, visible } from "./format";
import { Text } from "./parts";
import type { Column } from "./types";

// rangeOf returns the predicate for the bins from one to another.
export function rangeOf(c: Column, from: number, to: number): string {
  const a = c.bins[from], b = c.bins[to];
  const tail = a.low === a.high ? ` = ${a.low}` : ` BETWEEN ${a.low} AND ${a.high}`;
  const name = a.where.slice(0, a.where.length - tail.length);
  return a.low === b.high ? `${name} = ${a.low}` : `${name} BETWEEN ${a.low} AND ${b.high}`;
}

const height = 64;

export function Histogram(p: { of: Column; range?: { from: number; to: number }; groups?: number[]; onSelect: (from: number, to: number) => void }) {
  const bins = p.of.bins;
  const last = bins.length - 1;
  const [range, setRange] = useState<{ from: number; to: number }>();
  const origin = useRef<number>(undefined); // of a drag
  useEffect(() => setRange(p.range), [p.range?.from, p.range?.to]);
  const most = Math.max(1, ...bins.map((b) => b.rows));
  const now = range ?? { from: 0, to: last };
  const text = (i: number) => (i === now.from ? bins[i].low : bins[i].high);
  const sum = bins.slice(now.from, now.to + 1).reduce((n, b) => n + b.rows, 0);

  const at = (e: PointerEvent) => {
    const box = (e.currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.floor(((e.clientX - box.left) / box.width) * bins.length)));
  };
  const drag = (e: PointerEvent) => { if (origin.current !== undefined) setRange({ from: Math.min(origin.current, at(e)), to: Math.max(origin.current, at(e)) }); };
  const end = (e: PointerEvent) => {
    const a = origin.current, b = at(e);
    if (a === undefined) return;
    origin.current = undefined;
    p.onSelect(Math.min(a, b), Math.max(a, b));
  };
  return (
    <section class="histogram" aria-label={`Column ${visible(p.of.name)}`}>
      <h3><Text of={p.of.name} /> <small>{p.of.type}; {several(p.of.bin_count, "bin")} ({p.of.binning}), {p.of.encoding === "none" ? "no vectors" : `${several(p.of.vectors, "vector")} (${p.of.encoding})`}{p.of.missing > 0 && `, ${count(p.of.missing)} rows without a value`}</small></h3>
      {bins.length > 0 && <>
        <svg viewBox={`0 0 ${bins.length} ${height}`} preserveAspectRatio="none" aria-hidden="true"
          onPointerDown={(e) => { e.currentTarget.setPointerCapture(e.pointerId); origin.current = at(e); setRange({ from: at(e), to: at(e) }); }} onPointerMove={drag} onPointerUp={end} onPointerCancel={() => { origin.current = undefined; }}>
          {range && <rect class="selected" x={now.from} y={0} width={now.to - now.from + 1} height={height} />}
          {bins.map((b, i) => {
            const h = Math.max(1, (b.rows / most) * height);
            return <rect key={i} class={range && i >= now.from && i <= now.to ? "in" : "out"} x={i + 0.06} y={height - h} width={0.88} height={h} />;
          })}
          {p.groups?.map((rows, i) => <rect key={`g${i}`} class="group" x={i + 0.3} y={height - (rows / most) * height} width={0.4} height={(rows / most) * height} />)}
        </svg>
        {last > 0 && (
          <div class="range">
            <label><span><span class="hidden">{visible(p.of.name)} </span>from</span><input type="range" min="0" max={last} value={now.from} aria-valuetext={text(now.from)}
              onInput={(e) => setRange({ from: Math.min(e.currentTarget.valueAsNumber, now.to), to: now.to })} onChange={() => p.onSelect(now.from, now.to)} /></label>
            <label><span><span class="hidden">{visible(p.of.name)} </span>to</span><input type="range" min="0" max={last} value={now.to} aria-valuetext={bins[now.to].high}
              onInput={(e) => setRange({ from: now.from, to: Math.max(e.currentTarget.valueAsNumber, now.from) })} onChange={() => p.onSelect(now.from, now.to)} /></label>
          </div>)}
        <p class="ends"><span><Text of={bins[now.from].low} /></span><span class="middle">{range ? `${several(now.to - now.from + 1, "range")}, ${several(sum, "row")}` : ""}</span><span><Text of={bins[now.to].high} /></span></p>
      </>}
    </section>
  );
}
