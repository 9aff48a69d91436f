/** Evals of OpenAI's API, with the user's own key: the definition, its newest prompt, its rows. */
import { ConfiguredProviders } from '../../models/client/addresses/configured.js';
import { ProviderConnections } from '../../models/client/connections/connections.js';
import { ProviderError } from '../../models/client/answers/provider-answer.js';
import { ConfigError, readConfig } from '../../service/config.js';
import { asObject, isObject } from '../../util/json.js';
import { FailedJob } from '../service/errors.js';
import { note } from '../service/output.js';
import type { SourceFile } from './imported.js';

type Json = Record<string, unknown>;
/** Reads a path below the base address, as text. */
type Get = (path: string) => Promise<string>;

const prefix = 'openai:';
const provider = 'openai';
const maxBytes = 100 * 1024 * 1024;
const timeoutMs = 300_000;
const pageSize = 100;
const maxRows = 100_000;

export const isRemote = (source: string) => source.startsWith(prefix);

/** The files that a script would save of `openai:eval_…`. Nothing is run or paid for. */
export async function readRemote(source: string): Promise<SourceFile[]> {
  const id = source.slice(prefix.length);
  if (!/^eval_[\w-]+$/.test(id))
    throw new ConfigError(
      `${source} must be openai: and the id of an eval, such as openai:eval_67abd54d; stored prompts cannot be read by OpenAI's API`,
    );
  const { env } = readConfig();
  const configured = new ConfiguredProviders(env, true);
  const fault = configured.check(provider);
  if (fault !== null) throw new ConfigError(`${source}: ${fault}`);
  const endpoint = configured.endpointOf(provider)!;
  const base = new URL(endpoint.url);
  const connections = new ProviderConnections(env, maxBytes, () => note('OpenAI does not answer; trying again …'));
  try {
    return await evalFiles(id, async (path) => {
      const url = new URL(`${base.pathname.replace(/\/chat\/completions$/, '')}${path}`, base);
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await connections.ask({ ...endpoint, url: url.href }, { json: null, stream: false }, signal);
      const body = (await answer.read()).toString('utf8');
      if (answer.status >= 300) throw new FailedJob(refusal(path, answer.status, body));
      return body;
    });
  } catch (error) {
    if (error instanceof ProviderError) throw new FailedJob(`${source} cannot be read: ${error.message}`);
    throw error;
  } finally {
    await connections.close();
  }
}

function refusal(path: string, status: number, body: string): string {
  const message = asObject(asObject(parsed(body))?.['error'])?.['message'];
  const why = typeof message === 'string' ? message.slice(0, 300) : body.slice(0, 200);
  const advice =
    status === 401 || status === 403
      ? 'set OPENAI_API_KEY to a key of the project that holds the eval'
      : 'OpenAI ends its evals on 2026-11-30; import files that you saved before';
  return `OpenAI answers ${status} to GET ${path}: ${why} (${advice})`;
}

async function evalFiles(id: string, get: Get): Promise<SourceFile[]> {
  const definition = objectOf(await get(`/evals/${id}`), `/evals/${id}`);
  const runs = await pages(get, `/evals/${id}/runs`, 'order=desc');
  const asking = runs.filter((run) => isObject(sourceOf(run)['input_messages']));
  const ordered = [...asking, ...runs.filter((run) => !asking.includes(run))];
  const files: SourceFile[] = [];
  const [newest] = ordered;
  let outputs: Json[] = [];
  for (const run of ordered) {
    const rows = asObject(sourceOf(run)['source']) ?? {};
    if (Array.isArray(rows['content'])) break;
    if (typeof rows['id'] !== 'string') continue;
    const text = await get(`/files/${encodeURIComponent(rows['id'])}/content`).catch((error: unknown) => {
      // The file may be deleted; the run's outputs hold the rows, too.
      if (error instanceof FailedJob) return null;
      throw error;
    });
    if (text !== null) files.push({ path: `${rows['id']}.jsonl`, text });
    if (text !== null) break;
  }
  const isInline = ordered.some((run) => Array.isArray(asObject(sourceOf(run)['source'])?.['content']));
  if (newest && files.length === 0 && !isInline)
    outputs = await pages(get, `/evals/${id}/runs/${String(newest['id'])}/output_items`, 'order=asc');
  const saved = { eval: definition, runs: ordered.map((run) => ({ run })), output_items: outputs };
  return [{ path: `${id}.json`, text: JSON.stringify(saved) }, ...files];
}

const sourceOf = (run: Json) => asObject(run['data_source']) ?? {};

async function pages(get: Get, path: string, query: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let after: string | null = null; ;) {
    const place = `${path}?limit=${pageSize}&${query}${after === null ? '' : `&after=${encodeURIComponent(after)}`}`;
    const { data, has_more: more } = objectOf(await get(place), path);
    const items = (Array.isArray(data) ? (data as unknown[]) : []).filter(isObject);
    all.push(...items);
    if (all.length > maxRows) throw new FailedJob(`OpenAI lists more than ${maxRows} items at ${path}`);
    const last = items.at(-1)?.['id'];
    if (more !== true || typeof last !== 'string' || last === after) return all;
    after = last;
  }
}

function objectOf(text: string, path: string): Json {
  const value = asObject(parsed(text));
  if (!value) throw new FailedJob(`OpenAI answers GET ${path} with what is no JSON object: ${text.slice(0, 100)}`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
