/**
 * The process of the models: OpenAI's chat API, and a container and scores of each run under
 * /runs/ID. Model names: `policy:ID`, `proposer:ID`. Argument: options as JSON. Prints `{"url"}`.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from '../../../src/platform/embedded/lock.js';
import { serveJson } from '../../json-http.js';
import { promptMessages, type ChatMessage } from '../../worlds/task-texts.js';
import { splitOf } from '../splits.js';
import { taskNamed } from '../tasks.js';
import { openAnswers } from './answers.js';
import { layOut } from './chat-layout.js';
import type { ModelsOptions, RunOptions } from './client.js';
import { modelFiles } from './files.js';
import { loadLlama } from './llama.js';
import { createRun, type Run } from './run.js';

const { folder, size, fresh, transcripts } = JSON.parse(process.argv[2]!) as ModelsOptions;
await mkdir(folder, { recursive: true });
const lock = tryLock(join(folder, 'lock'));
if ('heldBy' in lock) throw new Error(`Another bench (process ${lock.heldBy}) has its answers in ${folder}.`);
/** One for each of two cores; with more threads than cores all wait at their barriers. */
const contexts = 2;
const states = join(folder, 'states');
const llama = await loadLlama(await modelFiles(folder, size), { contexts, states });
const answers = await openAnswers(fresh ? null : join(folder, `answers-${size}.jsonl`));
if (transcripts !== null) await mkdir(transcripts, { recursive: true });
const runs = new Map<string, Run>();

serveJson(serve);
endWithParent();

async function serve(at: string, body: unknown): Promise<unknown> {
  if (at === 'POST /runs') return open(body as RunOptions);
  if (at === 'POST /check') return check((body as { task: string }).task);
  if (at === 'POST /v1/chat/completions') return complete(body as { model: string });
  const [, route, id = ''] = /^(\w+ \/runs)\/([\w-]+)\/\w+$/.exec(at) ?? [];
  const run = route === undefined ? undefined : runs.get(id);
  if (!run) return null;
  const { seed = 0, messages = [], answer = '' } = (body ?? {}) as Partial<RunBody>;
  switch (at.replace(`/runs/${id}/`, '')) {
    case 'GET usage':
      return run.usage;
    case 'GET calls':
      return { calls: run.usage.policy.calls };
    case 'GET inputs':
      return run.inputs();
    case 'POST score':
      return run.score(seed, answer);
    case 'POST ask':
      return run.ask(seed, messages);
    case 'POST heldout':
      return run.heldout(messages);
    default:
      return null;
  }
}

/** Also when the bench is killed: a model holds gigabytes. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit();
  }, 1_000).unref();
}

interface RunBody {
  seed: number;
  messages: ChatMessage[];
  answer: string;
}

async function open({ task: name, split: number, heldout, contestant }: RunOptions) {
  const task = taskNamed(name);
  const split = splitOf(await task.rows(folder), number, heldout);
  const transcript = transcripts === null ? null : join(transcripts, `${name}-${number}-${contestant}.jsonl`);
  const run = await createRun({ llama, answers, size, task, split, number, transcript });
  const id = `run-${runs.size + 1}`;
  runs.set(id, run);
  // The container's task model needs no name: it calls the URL that the service gives it.
  return { id, containerUrl: run.containerUrl, split };
}

async function complete(body: { model: string }): Promise<unknown> {
  const [role, id = ''] = body.model.split(':', 2);
  const run = runs.get(id);
  if (!run || (role !== 'policy' && role !== 'proposer')) throw new Error(`No model "${body.model}".`);
  return run.complete(role, body);
}

/** Answers with and without rows as turns, in parallel and in turn; none is kept. */
async function check(name: string) {
  const task = taskNamed(name);
  const { rows } = splitOf(await task.rows(folder), 0, 1);
  const shown = rows.slice(20, 32).map(({ input, expected }) => ({ input, output: expected }));
  const asked = rows.slice(0, 20).map(({ input }, at) => () => {
    const before = promptMessages(task.instruction, at % 2 === 0 ? [] : shown);
    const chat = layOut([...before, { role: 'user', content: input }]);
    return llama.generate({ ...chat, temperature: 0, seed: 0, maxTokens: task.maxTokens });
  });
  const started = performance.now();
  const parallel = await Promise.all(asked.map((ask) => ask()));
  const between = performance.now();
  let differ = 0;
  for (const [at, ask] of asked.entries()) differ += (await ask()).text === parallel[at]!.text ? 0 : 1;
  return { differ, of: asked.length, parallelMs: between - started, sequentialMs: performance.now() - between };
}
