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
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermStates;
import org.apache.lucene.search.BlendedTermQuery;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RegexpQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermRangeQuery;
import org.apache.lucene.search.TopTermsRewrite;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.automaton.Operations;
import org.apache.lucene.util.automaton.RegExp;

/**
 * Tolerant indexes lines "name TAB text" and answers queries from standard input, one a line up to an empty line: clauses "mark weight form text",
 * separated by TABs, with the marks +, - and =. An answer is a line of document:score. For each line behind the empty one it answers all queries
 * again and prints the CPU time in nanoseconds. The arguments are the input, the number of documents of an answer, and "sum" or "best", the score of the
 * terms of a word.
 */
public class Tolerant {
  /** Blended scores all terms with the document frequency of the most frequent one. */
  static class Blended extends TopTermsRewrite<BlendedTermQuery.Builder> {
    final boolean best;

    Blended(boolean best) {
      super(BooleanQuery.getMaxClauseCount());
      this.best = best;
    }

    @Override
    protected int getMaxSize() {
      return BooleanQuery.getMaxClauseCount();
    }

    @Override
    protected BlendedTermQuery.Builder getTopLevelBuilder() {
      BlendedTermQuery.Builder b = new BlendedTermQuery.Builder();
      b.setRewriteMethod(best ? new BlendedTermQuery.DisjunctionMaxRewrite(0f) : BlendedTermQuery.BOOLEAN_REWRITE);
      return b;
    }

    @Override
    protected Query build(BlendedTermQuery.Builder b) {
      return b.build();
    }

    @Override
    protected void addClause(BlendedTermQuery.Builder b, Term term, int df, float boost, TermStates states) {
      b.add(term, boost, states);
    }
  }

  public static void main(String[] args) throws Exception {
    BooleanQuery.setMaxClauseCount(1 << 16);
    StandardAnalyzer analyzer = new StandardAnalyzer(CharArraySet.EMPTY_SET);
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    ByteBuffersDirectory dir = new ByteBuffersDirectory();
    try (IndexWriter w = new IndexWriter(dir, new IndexWriterConfig(analyzer).setSimilarity(similarity));
        BufferedReader in = Files.newBufferedReader(Path.of(args[0]), StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; ) {
        Document doc = new Document();
        doc.add(new TextField("text", line.substring(line.indexOf('\t') + 1), Field.Store.NO));
        w.addDocument(doc);
      }
      w.forceMerge(1);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(dir));
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    int k = Integer.parseInt(args[1]);
    Blended blended = new Blended(args[2].equals("best"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<String> lines = new ArrayList<>();
    StringBuilder out = new StringBuilder();
    for (String line; (line = in.readLine()) != null && !line.isEmpty(); ) {
      lines.add(line);
      for (ScoreDoc d : searcher.search(parse(blended, line), k).scoreDocs) {
        out.append(d.doc).append(':').append(d.score).append(' ');
      }
      out.append('\n');
    }
    System.out.print(out);
    System.out.flush();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    while (in.readLine() != null) {
      long start = threads.getCurrentThreadCpuTime();
      for (String line : lines) {
        searcher.search(parse(blended, line), k);
      }
      System.out.println(threads.getCurrentThreadCpuTime() - start);
    }
  }

  static Query parse(Blended blended, String line) throws IOException {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String clause : line.split("\t")) {
      String[] parts = clause.split(" ");
      Query q = query(parts);
      if (q instanceof MultiTermQuery) {
        ((MultiTermQuery) q).setRewriteMethod(blended);
      }
      all.add(
          new BoostQuery(q, Float.parseFloat(parts[1])),
          parts[0].equals("+") ? BooleanClause.Occur.MUST : parts[0].equals("-") ? BooleanClause.Occur.MUST_NOT : BooleanClause.Occur.SHOULD);
    }
    return all.build();
  }

  static Query query(String[] parts) {
    Term term = new Term("text", parts[3]);
    switch (parts[2]) {
      case "similar": // word edits prefix
        return new FuzzyQuery(term, Integer.parseInt(parts[4]), Integer.parseInt(parts[5]), BooleanQuery.getMaxClauseCount(), true);
      case "wildcard":
        return new WildcardQuery(term);
      case "prefix":
        return new PrefixQuery(term);
      case "regexp":
        return new RegexpQuery(term, RegExp.NONE, Operations.DEFAULT_MAX_DETERMINIZED_STATES);
      case "range": // low high, with their ends or without
        return TermRangeQuery.newStringRange(
            "text", end(parts[3]), end(parts[4]), parts[5].equals("["), parts[6].equals("]"));
      default:
        return new TermQuery(term);
    }
  }

  static String end(String text) {
    return text.equals("*") ? null : text;
  }
}
