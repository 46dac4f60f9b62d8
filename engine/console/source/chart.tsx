// A chart of values of events over time.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Status } from "./types";

// Line has a value for each event, or null.
export interface Line { name: string; value: (s: Status) => number | null }

// Patterns tell lines apart without colour.
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [1, 5], [14, 5]];

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// leastSpan is the least width of the time axis, in seconds.
const leastSpan = 30;

// clock writes times of day. A text that would end outside of the chart is left out.
function clock(u: uPlot, times: number[]): string[] {
  const end = u.bbox.width / devicePixelRatio - 24;
  return times.map((t) => (u.valToPos(t, "x") > end ? "" : new Date(1000 * t).toTimeString().slice(0, 8)));
}

// isShort says that a line has too few values to be seen without points.
const isShort = (u: uPlot, line: number) => u.data[line].filter((v) => v !== null).length < 3;

function optionsOf(names: string[], width: number, height: number, unit: (n: number) => string): uPlot.Options {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: `11px ${colour("--sans")}` };
  return {
    width, height, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
    scales: { x: { time: true, range: (u) => [Math.min(u.data[0][0], u.data[0].at(-1)! - leastSpan), u.data[0].at(-1)!] }, y: { range: (_u, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [{ ...axis, size: 28, space: 80, values: clock }, { ...axis, size: 62, space: 26, values: (_u, all) => all.map((n) => unit(n)) }],
    series: [{}, ...names.map((name, i) => ({ label: name, stroke: colour(`--tone${i % 6}`), width: 1.75, dash: dashes[i % 6], points: { show: isShort, size: 5, fill: colour(`--tone${i % 6}`) }, spanGaps: true }))],
  };
}

// newest returns the last value of a line; null if it has none.
function newest(all: Status[], l: Line): number | null {
  const s = all.findLast((s) => l.value(s) !== null);
  return s ? l.value(s) : null;
}

// Chart draws lines over the times of events. The legend has the newest values as text.
export function Chart(p: { title: string; all: Status[]; lines: Line[]; unit: (n: number) => string; note?: string }) {
  const at = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const seen = useRef(true); // a chart outside of the window is not drawn
  const drawn = useRef(0); // time of the newest value in the drawing
  const names = p.lines.map((l) => l.name);
  const data = () => [p.all.map((s) => s.time_ms / 1000), ...p.lines.map((l) => p.all.map(l.value))] as uPlot.AlignedData;
  const remake = useRef(data); // values of the newest events
  remake.current = data;
  useEffect(() => {
    const place = at.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(names, place.clientWidth, place.clientHeight, p.unit), remake.current(), place);
      plot.current.root.setAttribute("aria-hidden", "true");
    };
    make();
    const sized = new ResizeObserver(() => { if (plot.current && plot.current.width !== place.clientWidth) plot.current.setSize({ width: place.clientWidth, height: place.clientHeight }); });
    sized.observe(place);
    const near = new IntersectionObserver((all) => { seen.current = all.at(-1)!.isIntersecting; });
    near.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    addEventListener("themed", make);
    return () => {
      sized.disconnect();
      near.disconnect();
      dark.removeEventListener("change", make);
      removeEventListener("themed", make);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names.join("\n")]);
  useEffect(() => {
    if (!plot.current || !seen.current) return;
    const last = p.all.at(-1)!.time_ms / 1000, shown = Math.max(leastSpan, last - p.all[0].time_ms / 1000);
    if (last > drawn.current && last - drawn.current < (3 * shown) / plot.current.width) return; // less than three pixels
    drawn.current = last;
    plot.current.setData(data());
  });
  return (
    <figure class="chart" aria-label={p.title}>
      <figcaption><h2>{p.title}</h2>{p.note && <small>{p.note}</small>}</figcaption>
      <div class="plot" ref={at} />
      <ul class="legend">
        {p.lines.map((l, i) => {
          const last = newest(p.all, l);
          return <li key={l.name}><svg class={`sample line${i % 6}`} viewBox="0 0 24 8" aria-hidden="true"><path d="M0 4H24" stroke-dasharray={dashes[i % 6].join(" ")} /></svg><span>{l.name}</span> <b>{last === null ? "–" : p.unit(last)}</b></li>;
        })}
      </ul>
    </figure>
  );
}
