// Keys of all pages, and the list of them.
import { useEffect, useRef } from "preact/hooks";

const keys = [["/", "go to the query"], ["?", "show these keys"], ["Enter", "run the query"], ["Esc", "close this list"], ["Tab", "go to the next control"]];

export function Keys() {
  const list = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      const typing = (e.target as Element).matches?.("input:not([type=checkbox], [type=range]), select, textarea");
      if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
      const query = document.querySelector<HTMLInputElement>("main input.code");
      if (e.key === "/" && query && !list.current!.open) {
        e.preventDefault();
        query.focus();
        query.select();
      } else if (e.key === "?") {
        list.current!.open ? list.current!.close() : list.current!.showModal();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <dialog class="keys" ref={list} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="facts">{keys.map(([k, does]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{does}</dd></div>)}</dl>
      <form method="dialog"><button>Close</button></form>
    </dialog>
  );
}
