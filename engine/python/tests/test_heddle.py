"""Tests of the package. HEDDLE_LIBRARY names the library; HEDDLE_PROGRAM the command, for the tests of the client."""

import contextlib
import gc
import importlib.util
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
from pathlib import Path

import heddle

try:
    import numpy
except ImportError:
    numpy = None

BOOKS = "whale\tthe white whale and the sea\nisland\ta map, an island and the sea\nmoor\ta house on the moor\nballoon\tover sea and land by balloon\n"
YEARS = "year,lang,price\n1851,en,1.5\n1883,en,2.25\n1847,en,\n1863,fr,4\n"
HOST = {"devices.backend": "host", "devices.threads": 2}


def values(array):
    return array.tolist()


class Files(unittest.TestCase):
    """Has an index, a table and an engine."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "books.tsv").write_text(BOOKS)
        (cls.folder / "years.csv").write_text(YEARS)
        cls.books, cls.years = str(cls.folder / "books.hdl"), str(cls.folder / "years.hdb")
        summary = heddle.build_index(cls.books, [str(cls.folder / "books.tsv")], format="text", store="text")
        assert summary["documents"] == 4, summary
        assert heddle.build_table(cls.years, [str(cls.folder / "years.csv")]) == 4
        cls.engine = heddle.Engine(settings=HOST)
        cls.addClassCleanup(cls.engine.close)

    def fails(self, code, call, *args, **options):
        with self.assertRaises(heddle.Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return str(caught.exception)


class IndexTest(Files):
    def setUp(self):
        self.index = heddle.Index(self.books, self.engine)
        self.addCleanup(self.index.close)

    def test_search(self):
        hits = self.index.search(["whale sea", "moor", "nothing"], k=2, names=True)
        self.assertEqual(values(hits.docs), [[0, 3], [2, heddle.NO_DOCUMENT], [heddle.NO_DOCUMENT] * 2])
        self.assertEqual(values(hits.counts), [2, 1, 0])
        self.assertEqual(hits.names, [["whale", "balloon"], ["moor"], []])
        self.assertEqual(len(hits), 3)
        docs, scores = hits[1]
        self.assertEqual((values(docs), len(scores)), ([2], 1))
        self.assertEqual(values(hits[-1][0]), [])
        self.assertEqual([name for name, score in hits.ranking(0) if score > 0], ["whale", "balloon"])
        with self.assertRaises(IndexError):
            hits[3]
        self.assertEqual(self.index.info["documents"], 4)
        self.assertEqual(self.index.names([3, 0]), ["balloon", "whale"])

    def test_options(self):
        def docs(*args, **options):
            return [values(docs) for docs, _ in self.index.search(*args, **options)]

        self.assertEqual(docs(["white sea", "sea map"], match="and"), [[0], [1]])
        self.assertEqual(docs([{"balloon": 0.5, "moor": 2}, {"balloon": 2, "moor": 0.5}]), [[2, 3], [3, 2]])
        with heddle.Table(self.years, self.engine) as years:
            self.assertEqual(docs(["sea"], where="year > 1860", table=years), [[1, 3]] if docs(["sea"])[0].index(1) < docs(["sea"])[0].index(3) else [[3, 1]])
        self.assertNotEqual(values(self.index.search(["sea"], scoring=("robertson", 1.2, 0.75)).scores), values(self.index.search(["sea"]).scores))
        self.assertEqual(values(self.index.count(["sea", "NOT sea", "absent"])), [3, 1, 0])
        self.assertEqual([values(d) for d in self.index.match(["sea", "absent", "house OR balloon"])], [[0, 1, 3], [], [2, 3]])
        self.assertEqual(len(self.index.search([])), 0)

    def test_errors(self):
        self.assertIn("sea OR", self.fails("invalid_query", self.index.search, ["sea", "sea OR"]))
        self.fails("invalid_option", self.index.search, ["sea"], k=100000)
        self.fails("invalid_argument", self.index.search, ["a\0b"])
        self.fails("invalid_argument", self.index.search, ["sea"], scoring=("none", 1, 1))
        self.fails("not_found", heddle.Index, "absent.hdl", self.engine)
        self.fails("deadline", self.index.search, ["sea"], timeout=1e-9)
        for long in (2e10, float("inf")):  # more nanoseconds than a number of C has
            self.assertEqual(values(self.index.count(["sea"], timeout=long)), [3])
        for batch in ("sea", [1], ["sea", {"moor": 1.0}], [{"moor": 1.0}, "sea"]):
            self.assertRaises(TypeError, self.index.search, batch)
        self.assertRaises(ValueError, self.index.search, ["sea"], match="xor")
        for k in (0, 1 << 32):
            self.assertRaises(ValueError, self.index.search, ["sea"], k=k)
        self.assertIn("devices.backend", self.fails("invalid_option", heddle.Engine, settings={"devices.bakcend": "host"}))
        with heddle.Index(self.books, self.engine) as other:
            pass
        other.close()
        self.fails("closed", other.search, ["sea"])

    def test_token(self):
        with heddle.Token() as token:
            self.assertEqual(values(self.index.count(["sea"], token=token)), [3])
            token.cancel()
            self.fails("canceled", self.index.search, ["sea"], token=token)

    def test_threads(self):
        wrong = []

        def ask():
            for _ in range(50):
                if values(self.index.search(["moor"], k=1).docs) != [[2]]:
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(wrong)

    def test_fork(self):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertIn("spawn", pool.apply(forked, (self.index,)))

    def test_fork_memory(self):
        """A child of fork calls the library for no memory that goes, and may load the library itself."""
        with heddle.Table(self.years, self.engine) as years:
            answer = years.select()
        library = heddle._native._load()
        with unittest.mock.patch.object(library, "heddle_free") as free:
            with unittest.mock.patch.object(heddle._native, "_forked", True):
                del answer
                gc.collect()
            free.assert_not_called()
        first_use = "import heddle, os\nif os.fork() == 0: heddle.Token()\nelse: assert os.wait()[1] == 0"
        subprocess.run([sys.executable, "-c", first_use], check=True, timeout=60)

    def test_phrases(self):
        (self.folder / "looms.jsonl").write_text('{"id": "a", "title": "red", "body": "a loom is red"}\n{"id": "b", "title": "blue", "body": "the red loom"}\n')
        looms = str(self.folder / "looms.hdl")
        heddle.build_index(looms, [str(self.folder / "looms.jsonl")], fields=["title", "body"], positions=True)
        with heddle.Index(looms, self.engine) as index:
            self.assertEqual([values(d) for d in index.match(['"red loom"', "title:red", "red"])], [[1], [0], [0, 1]])

    @unittest.skipIf(numpy is None, "no numpy here")
    def test_numpy(self):
        hits = self.index.search(["sea"], k=5)
        self.assertEqual((hits.docs.dtype, hits.scores.dtype, hits.docs.shape), (numpy.uint32, numpy.float64, (1, 5)))
        self.assertTrue(numpy.shares_memory(hits.docs, hits[0][0]))
        self.assertEqual(values(self.index.count(numpy.array(["sea", "moor"]))), [3, 1])


def forked(index):
    try:
        index.count(["sea"])
    except heddle.Error as e:
        return str(e)


class CollectionTest(Files):
    def test_changes(self):
        path = str(self.folder / "news")
        self.fails("not_found", heddle.Collection, path, engine=self.engine)
        settings = {"store": "source", "attributes": [{"name": "year", "type": "int"}]}
        with heddle.Collection(path, create=settings, engine=self.engine) as news:
            self.assertEqual(news.add([{"id": "a", "text": "red loom", "year": 1999}, {"id": "b", "text": "blue loom", "year": 2004}])["added"], 2)
            self.assertEqual(news.search(["loom"], where="year > 2000", names=True).names, [["b"]])
            news.update([{"id": "a", "year": 2001}])
            self.assertEqual(sorted(news.search(["loom"], where="year > 2000", names=True).names[0]), ["a", "b"])
            self.assertEqual(news.delete(["a", "absent"]), {"added": 0, "replaced": 0, "deleted": 1, "missing": 1})
            news.merge()
            news.refresh()
            self.assertEqual(news.info["documents"], 1)
            self.assertEqual([values(d) for d in news.match(["loom"])], [[0]])
        settings = {"positions": True, "fields": ["title", "body"]}
        with heddle.Collection(str(self.folder / "looms"), create=settings, engine=self.engine) as looms:
            looms.add([{"id": "a", "title": "red", "body": "a loom is red"}, {"id": "b", "title": "blue", "body": "the red loom"}])
            self.assertEqual([values(d) for d in looms.match(['"red loom"', "title:red"])], [[1], [0]])


class TableTest(Files):
    def setUp(self):
        self.table = heddle.Table(self.years, self.engine)
        self.addCleanup(self.table.close)

    def test_rows(self):
        self.assertEqual(values(self.table.count(["year > 1860", "lang = 'en'"])), [2, 3])
        self.assertEqual(values(self.table.rows("year > 1860")), [1, 3])
        self.assertEqual(values(self.table.rows("year > 9999")), [])
        self.assertEqual(self.table.info["documents"], 4)
        self.assertIn("yaer", self.fails("invalid_query", self.table.rows, "yaer > 1"))
        self.assertRaises(TypeError, self.table.count, "year > 1")

    def test_select(self):
        self.assertEqual(self.table.records("lang, count(*) AS n, sum(price) AS s", group_by="lang", order_by="lang DESC"), [{"lang": "fr", "n": 1, "s": 4}, {"lang": "en", "n": 2 + 1, "s": 3.75}])
        self.assertEqual(self.table.records("year", "lang = 'en'", order_by="year", offset=1, limit=1), [{"year": 1851}])
        ipc = self.table.select("year, lang, price", "year < 1880").ipc
        self.assertTrue(ipc.readonly)
        if file := os.environ.get("HEDDLE_ARROW"):  # another program reads it
            Path(file).write_bytes(ipc)
        self.fails("invalid_query", self.table.select, "count(")
        for wrong in ({"offset": -1}, {"offset": 1 << 64}, {"limit": 0}, {"limit": 1 << 64}):
            self.assertRaises(ValueError, self.table.records, **wrong)


class EvaluationTest(Files):
    # The example of trec_eval's definitions: relevant documents at ranks 1 and 3 of 4 retrieved ones, 3 relevant ones.
    RUN = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}, "3": {"a": 1}}
    QRELS = {"1": {"a": 1, "b": 1, "c": 1, "x": 0}, "2": {"a": 1}}

    def test_values(self):
        e = heddle.evaluate(self.RUN, self.QRELS, ["map", "recip_rank", "P.2,5", "nDCG@10", "num_rel_ret"])
        self.assertAlmostEqual(e["map"], (1 / 1 + 2 / 3) / 3)
        self.assertAlmostEqual(e["nDCG@10"], (1 + 1 / 2) / (1 + 0.6309297535714575 + 0.5))
        self.assertEqual((e["recip_rank"], e["P_2"], e["P_5"], e["num_rel_ret"]), (1, 0.5, 0.4, 2))
        self.assertEqual((e.missing, e.unjudged, list(e.queries)), (["2"], ["3"], ["1"]))
        self.assertAlmostEqual(heddle.evaluate(self.RUN, self.QRELS, ["map"], complete=True)["map"], (1 + 2 / 3) / 6)
        self.fails("invalid_argument", heddle.evaluate, self.RUN, self.QRELS, ["none"])
        self.assertRaises(ValueError, heddle.evaluate, {"1 2": {"a": 1.0}}, self.QRELS)

    def test_files(self):
        run, qrels, topics = (str(self.folder / name) for name in ("run", "qrels", "topics"))
        Path(topics).write_text("q1\tsea whale\nq2\tmoor\n")
        Path(qrels).write_text("q1 0 whale 1\nq2 0 island 1\n")
        asked = heddle.read_topics(topics)
        self.assertEqual(asked, {"q1": "sea whale", "q2": "moor"})
        with heddle.Index(self.books, self.engine) as index:
            heddle.write_run(run, heddle.Retriever(index, k=3).run(asked))
        e = heddle.evaluate(run, qrels)
        self.assertEqual((e["map"], e.queries["q1"]["map"], e.queries["q2"]["map"]), (0.5, 1, 0))
        Path(topics).write_text('{"id": "v", "vector": {"sea": 2.5}}\n')
        self.assertEqual(heddle.read_topics(topics), {"v": {"sea": 2.5}})


class RetrieverTest(Files):
    def test_pyterrier(self):
        with heddle.Index(self.books, self.engine) as index:
            found = heddle.Retriever(index, k=2)([{"qid": "a", "query": "whale sea"}, {"qid": "b", "query": "moor"}])
            self.assertEqual([(r["qid"], r["docno"], r["docid"], r["rank"]) for r in found], [("a", "whale", 0, 0), ("a", "balloon", 3, 1), ("b", "moor", 2, 0)])
            self.assertEqual([r["docno"] for r in heddle.Retriever(index).search({"moor": 1.0})], ["moor"])
            self.assertEqual([r["docno"] for r in heddle.Retriever(index).search('is it on (the "moor" OR')][:1], ["moor"])
            self.fails("invalid_query", heddle.Retriever(index, literal=False).search, "moor OR")

    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "no pandas here")
    def test_frames(self):
        import pandas

        topics = pandas.DataFrame({"qid": ["a", "b", "c"], "query": ["whale sea", "absent", "moor"], "fold": [1, 2, 3]})
        with heddle.Index(self.books, self.engine) as index:
            found = heddle.Retriever(index, k=2)(topics)
            self.assertEqual(list(found.columns), ["qid", "query", "fold", "docid", "docno", "rank", "score"])
            self.assertEqual(found[["qid", "docno", "fold", "rank"]].values.tolist(), [["a", "whale", 1, 0], ["a", "balloon", 1, 1], ["c", "moor", 3, 0]])
            self.assertEqual(len(heddle.Retriever(index)(topics[1:2])), 0)
            self.assertEqual(values(index.count(topics["query"][1:])), [0, 1])  # a column whose first row is 1

    def test_pyserini(self):
        with heddle.Index(self.books, self.engine) as index:
            searcher = heddle.Searcher(index)
            self.assertEqual([h.docid for h in searcher.search("whale sea", k=2)], ["whale", "balloon"])
            before = searcher.search("sea")[0].score
            searcher.set_bm25(1.2, 0.75)
            found = searcher.batch_search(["sea", "moor"], ["a", "b"], k=3, threads=2)
            self.assertEqual((len(found["a"]), found["b"][0].docid, found["b"][0].lucene_docid), (3, "moor", 2))
            self.assertNotEqual(before, found["a"][0].score)
            self.assertEqual(searcher.search({"moor": 1.0})[0].docid, "moor")


class ReadmeTest(Files):
    def test_examples(self):
        """The examples of README.md run, in their order. ClientTest runs the last one."""
        page = (Path(__file__).parents[1] / "README.md").read_text()
        blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
        self.assertEqual(len(blocks), 4)
        (self.folder / "documents.jsonl").write_text('{"id": "a", "text": "faith and hope"}\n{"id": "b", "text": "charity"}\n')
        (self.folder / "flights.csv").write_text("carrier,delay,distance\nAA,1200,400\nDL,5,900\n")
        heddle.build_table(str(self.folder / "flights.hdb"), [str(self.folder / "flights.csv")])
        (self.folder / "topics.txt").write_text("301\tfaith hope\n")
        (self.folder / "qrels.txt").write_text("301 0 a 1\n")
        space = {"topics_frame": [{"qid": "301", "query": "faith"}]}
        with unittest.mock.patch.object(heddle.Engine, "_shared", self.engine), contextlib.chdir(self.folder):
            for block in blocks[:3]:
                if importlib.util.find_spec("pyarrow") is None:
                    block = block.replace(".to_arrow()", ".ipc")
                exec(compile(block, "README.md", "exec"), space)
        space["index"].close()
        self.assertEqual(space["e"]["map"], 1)


class WithoutNumpyTest(Files):
    def test_memoryviews(self):
        code = """if True:
            import sys
            sys.modules["numpy"] = None
            import heddle
            with heddle.Engine(settings={"devices.backend": "host"}) as engine, heddle.Index(sys.argv[1], engine) as index:
                hits = index.search(["whale sea", "moor"], k=2, names=True)
                assert type(hits.docs) is memoryview and hits.docs.tolist() == [[0, 3], [2, heddle.NO_DOCUMENT]]
                assert hits[1][0].tolist() == [2] and list(hits.ranking(1))[0][0] == "moor"
                assert index.search([{"moor": 2.0}], k=1).docs.tolist() == [[2]]
                assert [d.tolist() for d in index.match(["sea", "absent"])] == [[0, 1, 3], []]
                assert index.names([2]) == ["moor"] and len(index.search([])) == 0
            with heddle.Table(sys.argv[2], engine=heddle.Engine(settings={"devices.backend": "host"})) as table:
                assert table.rows("year > 1860").tolist() == [1, 3]
        """
        subprocess.run([sys.executable, "-c", code, self.books, self.years], check=True)


@unittest.skipUnless(os.environ.get("HEDDLE_PROGRAM"), "HEDDLE_PROGRAM names no program heddle")
class ClientTest(Files):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        heddle.Collection(str(cls.folder / "news"), create={}, engine=cls.engine).close()
        cls.server = subprocess.Popen(
            [os.environ["HEDDLE_PROGRAM"], "serve", "--backend", "host", "--index", f"books={cls.books}", "--table", f"years={cls.years}",
             "--index", f"news={cls.folder}/news",
             "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--root", str(cls.folder), "--drain-delay", "0s"],
            stdout=subprocess.PIPE, text=True, env={k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")},
        )
        cls.addClassCleanup(cls.stop)
        url, admin = (cls.server.stdout.readline().split()[-1] for _ in range(2))
        cls.client = heddle.Client(url, admin=admin)
        while True:
            with contextlib.suppress(heddle.Error):  # files that are not in service yet
                cls.client._send("/readyz", None)
                break

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()

    def test_same(self):
        """The answers are those of the engine in this process."""
        remote = self.client.index("books")
        with heddle.Index(self.books, self.engine) as local, heddle.Table(self.years, self.engine) as years:
            for batch, options in [
                (["whale sea", "moor", "nothing"], {"k": 2, "names": True}), (["white sea"], {"match": "and"}),
                ([{"balloon": 0.5, "moor": 2.0}], {}), (["sea"], {"scoring": ("robertson", 1.2, 0.75)}),
            ]:
                a, b = local.search(batch, **options), remote.search(batch, **options)
                self.assertEqual((values(a.docs), values(a.scores), values(a.counts), a.names), (values(b.docs), values(b.scores), values(b.counts), b.names))
            a = local.search(["sea"], where="year > 1860", table=years)
            b = remote.search(["sea"], where="year > 1860", table="years")
            self.assertEqual(values(a.docs), values(b.docs))
            self.assertEqual(values(local.count(["sea", "NOT sea"])), values(remote.count(["sea", "NOT sea"])))
            self.assertEqual([values(d) for d in local.match(["sea", "absent"])], [values(d) for d in remote.match(["sea", "absent"])])
            table = self.client.table("years")
            self.assertEqual(values(table.count(["year > 1860"])), [2])
            self.assertEqual(values(table.rows("year > 1860")), values(years.rows("year > 1860")))
            self.assertEqual(bytes(table.select("year, lang", order_by="year").ipc), bytes(years.select("year, lang", order_by="year").ipc))
            self.assertEqual(table.records("count(*)", "year > 1860"), years.records("count(*)", "year > 1860"))
            self.assertEqual(heddle.Searcher(remote).search("moor")[0].docid, "moor")
            with unittest.mock.patch.object(self.client, "_send", wraps=self.client._send) as send:
                remote.search(["sea", "moor"], scoring=("robertson", 1.2, 0.75))
            self.assertEqual(send.call_count, 1)

    def test_readme(self):
        """The last example of README.md, on the files of this server."""
        block = (Path(__file__).parents[1] / "README.md").read_text().split("```python\n")[4].split("```")[0]
        for written, here in [
            ("http://localhost:7700", self.client.url), ("http://localhost:7701", self.client.admin), ("kjv", "books"), ("faith hope", "sea"),
            ("flights", "years"), ("delay >= 1000", "year > 1860"),
        ]:
            self.assertIn(written, block)
            block = block.replace(written, here)
        exec(compile(block, "README.md", "exec"), {"heddle": heddle})
        self.assertEqual(self.client.index("news").search(["loom"], names=True).names, [["b"]])

    def test_errors(self):
        self.fails("invalid_query", self.client.index("books").search, ["sea OR"])
        self.fails("not_found", self.client.index("absent").search, ["sea"])
        self.fails("invalid_query", self.client.table("years").rows, "yaer > 1")
        self.fails("unavailable", heddle.Client("http://127.0.0.1:9").index("books").count, ["sea"])
        with socket.create_server(("127.0.0.1", 0)) as other:  # no server of HTTP
            def greet():
                with other.accept()[0] as caller:
                    caller.sendall(b"220 mail\r\n")

            thread = threading.Thread(target=greet)
            thread.start()
            self.fails("unavailable", heddle.Client(f"http://127.0.0.1:{other.getsockname()[1]}").index("books").count, ["sea"])
            thread.join()


if __name__ == "__main__":
    unittest.main()
