import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiPhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.QueryBuilder;

/**
 * Phrases indexes lines "name TAB text" with positions and answers phrase queries from standard input, one a line: clauses "mark slop
 * text" with the marks +, - and =, separated by TABs. An answer is a line of document:score. The arguments are the input, the stop words
 * with commas between, the number of documents of an answer, and optionally a number of rounds, which prints the CPU time of each round in nanoseconds
 * in place of answers.
 */
public class Phrases {
  public static void main(String[] args) throws Exception {
    List<String> stops = args[1].isEmpty() ? List.of() : List.of(args[1].split(","));
    StandardAnalyzer analyzer = new StandardAnalyzer(new CharArraySet(stops, false));
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    IndexWriterConfig config = new IndexWriterConfig(analyzer).setSimilarity(similarity);
    ByteBuffersDirectory dir = new ByteBuffersDirectory();
    try (IndexWriter w = new IndexWriter(dir, config);
        BufferedReader in = Files.newBufferedReader(Path.of(args[0]), StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; ) {
        Document doc = new Document();
        doc.add(new TextField("text", line.substring(line.indexOf('\t') + 1), Field.Store.NO));
        w.addDocument(doc);
      }
      w.forceMerge(1);
    }
    DirectoryReader reader = DirectoryReader.open(dir);
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    QueryBuilder builder = new QueryBuilder(analyzer);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<Query> queries = new ArrayList<>();
    for (String line; (line = in.readLine()) != null; ) {
      queries.add(parse(reader, builder, line));
    }
    int k = Integer.parseInt(args[2]);
    if (args.length > 3) {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      for (int round = 0; round < Integer.parseInt(args[3]); round++) {
        long start = threads.getCurrentThreadCpuTime();
        for (Query q : queries) {
          searcher.search(q, k);
        }
        System.out.println(threads.getCurrentThreadCpuTime() - start);
      }
      return;
    }
    StringBuilder out = new StringBuilder();
    for (Query q : queries) {
      TopDocs top = searcher.search(q, k);
      for (ScoreDoc d : top.scoreDocs) {
        out.append(d.doc).append(':').append(d.score).append(' ');
      }
      out.append('\n');
    }
    System.out.print(out);
  }

  static Query parse(DirectoryReader reader, QueryBuilder builder, String line) throws IOException {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String clause : line.split("\t")) {
      String[] parts = clause.split(" ", 3);
      int slop = Integer.parseInt(parts[1]);
      Query q = parts[2].contains("*") ? prefixes(reader, parts[2], slop) : builder.createPhraseQuery("text", parts[2], slop);
      if (q == null) {
        continue; // stop words alone
      }
      all.add(q, parts[0].equals("+") ? BooleanClause.Occur.MUST : parts[0].equals("-") ? BooleanClause.Occur.MUST_NOT : BooleanClause.Occur.SHOULD);
    }
    return all.build();
  }

  /** prefixes makes a phrase of words, of which those with a * stand for all terms that begin so. */
  static Query prefixes(DirectoryReader reader, String text, int slop) throws IOException {
    MultiPhraseQuery.Builder all = new MultiPhraseQuery.Builder().setSlop(slop);
    for (String word : text.split(" ")) {
      if (!word.endsWith("*")) {
        all.add(new Term("text", word));
        continue;
      }
      BytesRef prefix = new BytesRef(word.substring(0, word.length() - 1));
      List<Term> terms = new ArrayList<>();
      TermsEnum e = MultiTerms.getTerms(reader, "text").iterator();
      if (e.seekCeil(prefix) != TermsEnum.SeekStatus.END) {
        for (BytesRef t = e.term(); t != null && org.apache.lucene.util.StringHelper.startsWith(t, prefix); t = e.next()) {
          terms.add(new Term("text", BytesRef.deepCopyOf(t)));
        }
      }
      all.add(terms.toArray(new Term[0]));
    }
    return all.build();
  }
}
