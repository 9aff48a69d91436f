/**
 * What a completed graph job is downloaded as: the graph, what it scored, and a program that runs it without us. The same content
 * gives the same bytes, on any machine: times, modes and order are fixed, and nothing is compressed, since what a compressor makes
 * of the same text differs between processors and versions.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ZipArchive } from 'archiver';
import { promptOf, withPrompt, type Graph } from '../../core/graph/graph.js';
import { jsonOf } from '../../core/graph/json.js';
import { graphMermaid } from '../../core/graph/mermaid.js';
import { graphText } from '../../core/graph/text.js';
import { readmeText } from './readme.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What an archive is made of. What is JSON here goes into it as it is: names in snake_case, in the order to be read in. */
export interface GraphExport {
  jobId: string;
  candidateId: string;
  /** The best graph, as it was found. */
  graph: Graph;
  reward: number | null;
  /** The policy models; the first is that of steps which name none. */
  models: readonly [string, ...string[]];
  provider: string;
  /** Of the service and of the algorithm. */
  versions: Readonly<Record<string, string>>;
  rngSeed: number;
  /** results.json. */
  results: JsonObject & {
    history: readonly JsonObject[];
    tasks: readonly JsonObject[];
    cost: JsonObject;
  };
  /** A line of candidates.jsonl each. */
  candidates: readonly JsonObject[];
}

export interface ExportFile {
  name: string;
  bytes: Buffer;
}

export interface GraphArchive {
  fileName: string;
  bytes: Buffer;
  /** With its quotes. */
  etag: string;
}

const program = readFileSync(new URL('./run.py', import.meta.url));
// ZIP keeps no time zone and begins in 1980.
const entryDate = new Date(Date.UTC(1980, 0, 1));
const modes = { program: 0o755, text: 0o644 };

/** The download of a graph job. */
export async function graphArchive(exported: GraphExport): Promise<GraphArchive> {
  const bytes = await zipOf(exportFiles(exported));
  return { fileName: `${exported.jobId}-graph.zip`, bytes, etag: `"${sha256(bytes)}"` };
}

/** The files of an archive, in their order; manifest.json has the sum of each of the others. */
export function exportFiles(exported: GraphExport): ExportFile[] {
  const { jobId, candidateId, reward, models, provider, versions, rngSeed, results, candidates } = exported;
  const graph = withModels(exported.graph, models[0]);
  const named = { job_id: jobId, candidate_id: candidateId };
  const files = [
    text('README.md', readmeText({ ...exported, graph })),
    { name: 'run.py', bytes: program },
    json('graph.json', jsonOf(graph)),
    text('graph.txt', graphText(graph)),
    text('graph.mmd', graphMermaid(graph)),
    json('best_prompt.json', { ...named, reward, steps: promptsOf(graph) }),
    json('results.json', { ...named, ...results }),
    text('candidates.jsonl', candidates.map((candidate) => `${JSON.stringify(candidate)}\n`).join('')),
  ];
  const sums = files.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256(bytes) }));
  return [...files, json('manifest.json', { ...named, versions, rng_seed: rngSeed, provider, models, files: sums })];
}

/** The files as a ZIP. */
export async function zipOf(files: readonly ExportFile[]): Promise<Buffer> {
  const archive = new ZipArchive({ store: true });
  for (const { name, bytes } of files)
    archive.append(bytes, { name, date: entryDate, mode: name === 'run.py' ? modes.program : modes.text });
  const [chunks] = await Promise.all([archive.toArray() as Promise<Buffer[]>, archive.finalize()]);
  return Buffer.concat(chunks);
}

/** The graph in which no step is left to the first policy model. */
function withModels(graph: Graph, first: string): Graph {
  const steps = graph.steps.map((step) => withPrompt(step, { model: promptOf(step)?.model ?? first }));
  return { ...graph, steps };
}

/** What each step that asks a model is told, by its id. */
function promptsOf({ steps }: Graph): JsonObject {
  return Object.fromEntries(
    steps.flatMap((step) => {
      const prompt = promptOf(step);
      return prompt === null ? [] : [[step.id, { model: prompt.model, messages: prompt.messages }]];
    }),
  );
}

function text(name: string, content: string): ExportFile {
  return { name, bytes: Buffer.from(content) };
}

function json(name: string, content: unknown): ExportFile {
  return text(name, `${JSON.stringify(content, null, 2)}\n`);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
