/**
 * What a completed graph job is downloaded as: the graph, what it scored, and a program that runs it without us. The same content
 * gives the same bytes, on any machine: times, modes and order are fixed, and nothing is compressed, since what a compressor makes
 * of the same text differs between processors and versions.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ZipArchive } from 'archiver';
import { stepPrompt, withPrompt, type Graph } from '../../../core/graphs/graph.js';
import { graphToJson } from '../../../core/graphs/json.js';
import { graphMermaid } from '../../../core/graphs/mermaid.js';
import { graphText } from '../../../core/graphs/text.js';
import { entryDate } from '../../server/zip.js';
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
  /** A line of candidates.jsonl each; asked for once to be summed, and once to be sent. */
  candidates: () => AsyncIterable<JsonObject>;
}

/** `content`: what is large comes piece by piece, the same whenever it is asked for. */
export interface ExportFile {
  name: string;
  content: Buffer | (() => AsyncIterable<Buffer>);
}

/** A file and what the manifest says of it; `bytes` is how many. */
export interface SummedFile extends ExportFile {
  bytes: number;
  sha256: string;
}

export interface GraphArchive {
  fileName: string;
  /** With its quotes: the sum of the manifest, which has those of all other files. */
  etag: string;
  /** The ZIP; an error of the stream is why it broke off. */
  open(): Readable;
}

const program = readFileSync(new URL('./run.py', import.meta.url));
const modes = { program: 0o755, text: 0o644 };

/** The download of a graph job. It is made as it is read: what is held of it is small, however large it is. */
export async function graphArchive(exported: GraphExport): Promise<GraphArchive> {
  const files = await exportFiles(exported);
  return {
    fileName: `${exported.jobId}-graph.zip`,
    etag: `"${files.at(-1)!.sha256}"`,
    open: () => zipOf(files),
  };
}

/** The files of an archive, in their order; manifest.json, the last, has the sum of each of the others. */
export async function exportFiles(exported: GraphExport): Promise<SummedFile[]> {
  const { jobId, candidateId, reward, models, provider, versions, rngSeed, results, candidates } = exported;
  const graph = withModels(exported.graph, models[0]);
  const named = { job_id: jobId, candidate_id: candidateId };
  const files = await Promise.all(
    [
      text('README.md', readmeText({ ...exported, graph })),
      { name: 'run.py', content: program },
      json('graph.json', graphToJson(graph)),
      text('graph.txt', graphText(graph)),
      text('graph.mmd', graphMermaid(graph)),
      json('best_prompt.json', { ...named, reward, steps: promptsOf(graph) }),
      json('results.json', { ...named, ...results }),
      { name: 'candidates.jsonl', content: () => linesOf(candidates()) },
    ].map(summed),
  );
  const sums = files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
  const manifest = { ...named, versions, rng_seed: rngSeed, provider, models, files: sums };
  return [...files, await summed(json('manifest.json', manifest))];
}

/** The files as a ZIP; it breaks off where one is no longer what was summed. */
export function zipOf(files: readonly SummedFile[]): Readable {
  const archive = new ZipArchive({ store: true });
  const breakOff = (error: Error) => {
    archive.abort();
    archive.destroy(error);
  };
  for (const file of files) {
    const { name, content } = file;
    const source = Buffer.isBuffer(content) ? content : Readable.from(checked(file, content()));
    if (source instanceof Readable) source.once('error', breakOff);
    archive.append(source, { name, date: entryDate, mode: name === 'run.py' ? modes.program : modes.text });
  }
  archive.finalize().catch(breakOff);
  return archive;
}

/** The file with what the manifest says of it. */
export async function summed(file: ExportFile): Promise<SummedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of Buffer.isBuffer(file.content) ? [file.content] : file.content()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { ...file, bytes, sha256: hash.digest('hex') };
}

async function* checked({ name, sha256 }: SummedFile, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} has changed since it was summed for the manifest`);
}

async function* linesOf(values: AsyncIterable<JsonObject>): AsyncGenerator<Buffer> {
  for await (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`);
}

/** The graph in which no step is left to the first policy model. */
export function withModels(graph: Graph, first: string): Graph {
  const steps = graph.steps.map((step) => withPrompt(step, { model: stepPrompt(step)?.model ?? first }));
  return { ...graph, steps };
}

/** What each step that asks a model is told, by its id. */
function promptsOf({ steps }: Graph): JsonObject {
  return Object.fromEntries(
    steps.flatMap((step) => {
      const prompt = stepPrompt(step);
      return prompt === null ? [] : [[step.id, { model: prompt.model, messages: prompt.messages }]];
    }),
  );
}

function text(name: string, content: string): ExportFile {
  return { name, content: Buffer.from(content) };
}

function json(name: string, content: unknown): ExportFile {
  return text(name, `${JSON.stringify(content, null, 2)}\n`);
}
