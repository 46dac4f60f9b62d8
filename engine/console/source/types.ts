// Messages of the server, as engine/api/heddle/v1 defines them. Empty texts are absent.

export interface Resident { processor: string; reserve: boolean; bytes: number; reason?: string }
export interface Index { name: string; ready: boolean; docs: number; lists: number; checksum?: string; collection?: boolean; resident: Resident[]; fields?: { name: string; length: number }[] }
export interface Table { name: string; ready: boolean; rows: number; checksum?: string; resident: Resident[] }
export interface PostingList { term: string; documents: number; codec: string; bytes: number; weight: number; method?: string }
export interface Parsed { lists: PostingList[]; unknown: string[]; expression?: string }
export interface TextPiece { text: string; marked: boolean }
export interface Hit { doc?: string; id: number; score: number; text: TextPiece[]; cut_before: boolean; cut_after: boolean; fields?: Record<string, unknown>; attributes?: Record<string, unknown> }
export interface Way {
  kind: string; cached: boolean; mode?: string; class?: string; processor?: string; batch: number;
  estimate_ms: number; ran_ms: number; took_ms: number; queued_ms: number;
  estimates: { processor: string; ms: number }[]; stages: { name: string; ms: number }[];
  missing_bytes: number; bytes_up: number; bytes_down: number; attempts: number;
}
export interface Facet { column: string; values: { value?: string; missing: boolean; count: number }[]; distinct: number }
export interface Step { name: string; detail?: string; ms: number; bytes: number; peak: number; steps: Step[] }
export interface ScorePart { term: string; boost: number; documents: number; weight: number; frequency: number; length: number; mean_length: number; tf: number; score: number }
export interface Score { doc?: string; id: number; score: number; documents: number; mean_length: number; scoring?: { variant: string; k1: number; b: number }; parts: ScorePart[] }
export interface Answer extends Parsed { count: number; total?: { value: number; exact: boolean }; after?: string; plan?: Step; hits: Hit[]; algorithm?: string; explanation?: string; way: Way; facets?: { matches: number; columns?: Facet[] } }
export interface IndexDetails {
  name: string; file: string; bytes: number; checksum: string; creator?: string; format?: string;
  documents: number; terms: number; postings: number; tokens: number; mean_length: number;
  tokenizer: string; stemmer: string; stop_words: number; texts: boolean; codec: string;
  codecs: { codec: string; lists: number; postings: number; bytes: number; bits_per_posting: number }[];
  sections: { name: string; bytes: number }[]; resident: Resident[]; segments: number; state: number;
}
export interface TermDetails {
  term: string; documents: number; occurrences: number; codec: string; bytes: number; reason?: string;
  costs: { codec: string; bytes: number; bits_per_posting: number; time_bits: number }[];
}
export interface Bin { low: string; high: string; rows: number; where: string }
export interface Column { name: string; type: string; binning: string; encoding: string; vectors: number; missing: number; bins: Bin[]; bin_count: number }
export interface TableDetails { name: string; rows: number; file: string; checksum: string; columns: Column[]; resident: Resident[] }
export interface Selected {
  count: number; rows: number[]; groups: number[]; where?: string;
  tests: { column: string; ranges: string[]; missing: boolean; bins: number; whole: number; checked: number }[];
  vectors: number; bytes: number; rows_checked: number; compared: string[]; strategy?: string; compile_ms: number; way: Way; plan: Step;
}
export interface Cache { hits: number; misses: number; bytes: number; capacity: number }
export interface ProcessorStatus {
  name: string; removed?: string; running: number; queries: number; queries_per_second: number; p50_ms: number; p99_ms: number;
  batch: number; prediction_error: number; busy: number; memory: number; device_memory: number; lists?: Cache;
}
export interface Status {
  time_ms: number; interval_ms: number; mode: string; load: number;
  queue: { either: number; device: number; host: number; capacity: number };
  answered: number; failed: number; refused: number; expired: number; processors: ProcessorStatus[]; answers: Cache;
}
export interface Device {
  name: string; kind: string; device: string; platform?: string; vendor?: string; driver?: string; version?: string; type?: string;
  compute_units: number; memory: number; reserve: boolean; reason?: string; removed?: string;
}
export interface Place extends Device { max_alloc: number; local_memory: number; tuning?: string; open: boolean; preferred: boolean }
export interface Machine { places: Place[]; opencl_error?: string; findings: { state: string; name: string; found?: string; repair?: string }[] }
export interface Replica { node: string; epoch: number; lag: number; error?: string }
export interface Collection {
  name: string; kind: string; epoch: number; documents: number; failure?: string;
  shards: { documents: number; bytes: number; replicas: Replica[] }[];
  intent?: { verb: string; epoch: number; ready: number; total: number };
}
export interface ClusterNode { name: string; alive: boolean; draining: boolean; free: number; shards: number; running: number; latency_ms: number; errors: string[] }
export interface Cluster { present: boolean; collections: Collection[]; nodes: ClusterNode[] }
