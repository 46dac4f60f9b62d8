// Example queries for a first visit, from the terms of the index.
import { useEffect, useState } from "preact/hooks";
import { call, indexPath } from "./api";
import { Panel, Text } from "./parts";
import type { PostingList } from "./types";

// draw returns frequent words of an index: one for each prefix.
async function draw(index: string, documents: number): Promise<string[]> {
  const pages = await Promise.all(["f", "l", "s", "w", "m", "1"].map((prefix) => call<{ terms: PostingList[] }>(indexPath(index, "terms"), { prefix, limit: 1000 })));
  return pages.flatMap(({ terms }) => terms.filter((t) => /^\p{L}{4,}$/u.test(t.term) && t.documents <= documents / 10)
    .sort((a, b) => b.documents - a.documents).slice(0, 1).map((t) => t.term));
}

export function Examples({ index, documents, onChoose }: { index: string; documents: number; onChoose: (query: string) => void }) {
  const [words, setWords] = useState<string[]>([]);
  useEffect(() => { draw(index, documents).then(setWords, () => setWords([])); }, [index]); // an index in a cluster has no list of terms here
  const [a, b, c] = words;
  if (!c) return null;
  return (
    <Panel title="Examples" class="examples">
      <p class="hint">Queries with words of this index.</p>
      <ul>
        {[[`${a} ${b}`, "documents with any word"], [`+${a} -${b}`, "with one word and without another one"], [`${a} AND (${b} OR ${c})`, "operators"], [`${c.slice(0, 3)}*`, "all words that begin so"], [`${a}^2 ${c}`, "a word with twice the weight"]]
          .map(([query, does]) => <li key={query}><button type="button" class="link" onClick={() => onChoose(query)}><code><Text of={query} /></code></button> <small>{does}</small></li>)}
      </ul>
    </Panel>
  );
}
