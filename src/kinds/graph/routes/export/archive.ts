/**
 * The download of a completed graph job. The same content gives the same bytes on any machine:
 * fixed times, modes and order, and no compression, whose output varies between versions.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ZipArchive } from 'archiver';
import { stepPrompt, withPrompt, type Graph } from '../../../../core/graphs/graph.js';
import { graphToJson } from '../../../../core/graphs/json.js';
import { graphMermaid } from '../../../../core/graphs/mermaid.js';
import { graphText } from '../../../../core/graphs/text.js';
import { entryDate } from '../../../../platform/http/server/zip.js';
import { readmeText, type ReadmeFacts } from './readme.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The content of an archive; JSON objects are written unchanged. */
export interface GraphExport extends ReadmeFacts {
  candidateId: string;
  /** Of the service and the algorithm. */
  versions: Readonly<Record<string, string>>;
  rngSeed: number;
  /** results.json. */
  results: JsonObject & {
    history: readonly JsonObject[];
    tasks: readonly JsonObject[];
    cost: JsonObject;
  };
  /** Lines of candidates.jsonl; iterated twice, to hash and to send. */
  candidates: () => AsyncIterable<JsonObject>;
}

/** Large `content` is streamed; each iteration gives the same bytes. */
export interface ExportFile {
  name: string;
  content: Buffer | (() => AsyncIterable<Buffer>);
}

/** A file with its size and hash for the manifest. */
export interface HashedFile extends ExportFile {
  bytes: number;
  sha256: string;
}

export interface GraphArchive {
  fileName: string;
  /** Quoted hash of the manifest, which has the hashes of all other files. */
  etag: string;
  /** The ZIP; its stream reports why it was aborted. */
  open(): Readable;
}

const program = readFileSync(new URL('./run.py', import.meta.url));
const modes = { program: 0o755, text: 0o644 };

/** The download of a graph job, built while it is read: memory stays small. */
export async function graphArchive(exported: GraphExport): Promise<GraphArchive> {
  const files = await exportFiles(exported);
  return {
    fileName: `${exported.jobId}-graph.zip`,
    etag: `"${files.at(-1)!.sha256}"`,
    open: () => createZip(files),
  };
}

/** The files of an archive in order; the last, manifest.json, has the hashes of the others. */
export async function exportFiles(exported: GraphExport): Promise<HashedFile[]> {
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
      json('best_prompt.json', { ...named, reward, steps: stepPrompts(graph) }),
      json('results.json', { ...named, ...results }),
      { name: 'candidates.jsonl', content: () => jsonLines(candidates()) },
    ].map(hashFile),
  );
  const sums = files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
  const manifest = { ...named, versions, rng_seed: rngSeed, provider, models, files: sums };
  return [...files, await hashFile(json('manifest.json', manifest))];
}

/** The files as a ZIP; aborts if a file no longer has its hash. */
export function createZip(files: readonly HashedFile[]): Readable {
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

export async function hashFile(file: ExportFile): Promise<HashedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of Buffer.isBuffer(file.content) ? [file.content] : file.content()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { ...file, bytes, sha256: hash.digest('hex') };
}

async function* checked({ name, sha256 }: HashedFile, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} has changed since it was hashed for the manifest`);
}

async function* jsonLines(values: AsyncIterable<JsonObject>): AsyncGenerator<Buffer> {
  for await (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Sets the default model on all steps without a model. */
export function withModels(graph: Graph, first: string): Graph {
  const steps = graph.steps.map((step) => withPrompt(step, { model: stepPrompt(step)?.model ?? first }));
  return { ...graph, steps };
}

/** The prompt of each model step, by step id. */
function stepPrompts({ steps }: Graph): JsonObject {
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
