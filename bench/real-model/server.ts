/**
 * The process of the language model, with the container of each run and its scores under /runs/ID.
 * Model names: `task:ID`, and `ID` for the proposer. Argument: a folder. Prints `{"url"}`.
 */
import { join } from 'node:path';
import { score } from '../../examples/intents/container.js';
import { createContainer, type RunningContainer } from '../../src/container/index.js';
import { propose } from './proposer.js';
import { serveJson } from '../json-http.js';
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

serveJson(serve);

async function serve(at: string, body: unknown): Promise<unknown> {
  if (at === 'POST /runs') return open((body as { split: number }).split);
  if (at === 'POST /v1/chat/completions') return complete(body as ChatBody);
  const [, method, id = '', route] = /^(\w+) \/runs\/([\w-]+)\/(\w+)$/.exec(at) ?? [];
  const run = runs.get(id);
  if (!run) return null;
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
      return null;
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
