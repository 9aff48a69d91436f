/**
 * The process of the language model, with the container of each run and its scores under /runs/ID.
 * Model names: `task:ID`, and `ID` for the proposer. Argument: a folder. Prints `{"url"}`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { score } from '../../examples/intents/container.js';
import { createContainer, type RunningContainer } from '../../src/container/index.js';
import { propose } from './proposer.js';
import type { ChatMessage } from '../worlds/task-texts.js';
import { modelFiles } from './files.js';
import { layOut } from './layout.js';
import { loadModel } from './model.js';
import { instruction, labels, splitOf, type Split } from './task.js';

/** An optimizer's run: its messages, and the calls of the task model so far. */
interface Run {
  split: Split;
  container: RunningContainer;
  calls: number;
  last: readonly ChatMessage[];
}
interface ChatBody {
  model: string;
  messages: ChatMessage[];
}

const [folder = ''] = process.argv.slice(2);
const model = await loadModel(await modelFiles(folder), join(folder, 'answers.jsonl'));
const runs = new Map<string, Run>();

const server = createServer((request, response) => {
  serve(request).then(
    (answer) => reply(response, 200, answer),
    (error: unknown) => reply(response, 500, { detail: String(error) }),
  );
});
// Keep connections open during an optimizer's pauses.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`);
});

async function serve(request: IncomingMessage): Promise<unknown> {
  const at = `${request.method} ${request.url?.split('?', 1)[0]}`;
  const body = request.method === 'POST' ? await readJson(request) : null;
  if (at === 'POST /runs') return open((body as { split: number }).split);
  if (at === 'POST /v1/chat/completions') return complete(body as ChatBody);
  const [, method, id = '', route] = /^(\w+) \/runs\/([\w-]+)\/(\w+)$/.exec(at) ?? [];
  const run = runs.get(id);
  if (!run) throw new Error(`${at} is not served here`);
  switch (`${method} ${route}`) {
    case 'GET calls':
      return { calls: run.calls };
    case 'GET last':
      return { messages: run.last };
    case 'GET inputs':
      return run.split.messages.map(({ text, label }, seed) => ({ seed, input: text, expected: label }));
    case 'POST score': {
      const { seed, answer } = body as { seed: number; answer: string };
      return score(run.split.messages[seed]!, answer, labels);
    }
    case 'POST heldout':
      return heldout(run, (body as { messages: ChatMessage[] }).messages);
    default:
      throw new Error(`${at} is not served here`);
  }
}

async function open(number: number): Promise<{ id: string; container_url: string }> {
  const split = await splitOf(number);
  const container = await createContainer({
    name: 'five-labels',
    tasks: split.messages,
    initialPrompt: instruction,
    async rollout(task, ask, { prompt }) {
      const answer = await ask([
        { role: 'system', content: prompt },
        { role: 'user', content: task.text },
      ]);
      return score(task, answer, labels);
    },
  }).listen(0);
  const id = `run-${runs.size + 1}`;
  runs.set(id, { split, container, calls: 0, last: [] });
  return { id, container_url: container.url };
}

async function complete({ model: name, messages }: ChatBody): Promise<unknown> {
  const run = runs.get(name.replace(/^task:/, ''));
  if (!run) throw new Error(`no model ${name}`);
  if (!name.startsWith('task:')) return propose(name, messages);
  run.calls += 1;
  run.last = messages;
  const content = await model.complete(layOut(messages));
  return {
    id: `chatcmpl-${run.calls}`,
    object: 'chat.completion',
    created: 0,
    model: name,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** The share of right answers on messages that no optimizer saw. */
async function heldout({ split }: Run, before: readonly ChatMessage[]): Promise<{ right: number; of: number }> {
  let right = 0;
  for (const seed of split.heldoutSeeds) {
    const task = split.messages[seed]!;
    const answer = await model.complete(layOut([...before, { role: 'user', content: task.text }]));
    right += score(task, answer, labels).reward;
  }
  return { right, of: split.heldoutSeeds.length };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? null : (JSON.parse(Buffer.concat(chunks).toString()) as unknown);
}

function reply(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}
