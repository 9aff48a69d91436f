/**
 * The process of the benchmark's worlds: container, proposer and ledger per run under /runs/ID;
 * model names ID and task:ID. Prints `{"url"}`; a repeated rollout id gets the same answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serveJson } from '../json-http.js';
import type { Entry, LookupSetup, RunSetup, TaskSetup } from './client.js';
import { createLookupRun, isLookupSetup } from './lookup-run.js';
import { createTaskRun, isTaskSetup, type ServedRun } from './task-run.js';
import type { ChatMessage } from './task-texts.js';
import { openWorld, type Judgement, type Texts, type World } from './world.js';

interface Run {
  setup: RunSetup;
  world: World;
  ledger: Entry[];
  /** Answers by rollout id. */
  answered: Map<string, Judgement>;
  /** Runs of each prompt by seed. */
  occurrences: Map<string, number>;
}

interface RolloutBody {
  rollout_id: string;
  env: { seed: number };
  policy: { config: { prompt_template?: { sections: Section[] } } };
}
interface Section {
  role: string;
  content: string;
  name?: string;
}
interface ChatBody {
  model: string;
  messages: ChatMessage[];
}

const runs = new Map<string, Run>();
const taskRuns = new Map<string, ServedRun>();
let completions = 0;
const now = () => performance.timeOrigin + performance.now();

serveJson(serve);

async function serve(at: string, body: unknown): Promise<unknown> {
  if (at === 'POST /runs') {
    const setup = body as RunSetup | TaskSetup | LookupSetup;
    const id = `run-${runs.size + taskRuns.size + 1}`;
    if (isLookupSetup(setup)) {
      taskRuns.set(id, createLookupRun(setup));
      return { id };
    }
    if (isTaskSetup(setup)) {
      taskRuns.set(id, createTaskRun(setup));
      return { id };
    }
    const world = openWorld(setup.kind ?? 'rules', setup.world, { shuffledFeedback: setup.shuffledFeedback ?? false });
    runs.set(id, { setup, world, ledger: [], answered: new Map(), occurrences: new Map() });
    return { id };
  }
  if (at === 'POST /v1/chat/completions') return complete(body as ChatBody);
  const [, method, id, route] = /^(\w+) \/runs\/([\w-]+)\/(\w+)$/.exec(at) ?? [];
  const taskRun = taskRuns.get(id ?? '');
  if (taskRun) return taskRun.serve(`${method} ${route}`, body);
  const run = runs.get(id ?? '');
  if (!run) return null;
  switch (`${method} ${route}`) {
    case 'GET health':
      return { status: 'healthy' };
    case 'GET task_info':
      return { initial_prompt: { messages: initialMessages(run.world) } };
    case 'POST rollout':
      return rollout(run, body as RolloutBody);
    case 'GET ledger':
      return run.ledger;
    case 'POST truth':
      return { reward: run.world.trueReward(textsOf(run.world, body as { texts: Texts } | { prompt: string })) };
    default:
      return null;
  }
}

function initialMessages({ components, baseline }: World) {
  return components.map((name) => ({
    role: 'system',
    content: baseline[name],
    ...(components.length > 1 && { name }),
  }));
}

function textsOf({ components }: World, given: { texts: Texts } | { prompt: string }): Texts {
  return 'texts' in given ? given.texts : { [components[0]!]: given.prompt };
}

async function rollout(run: Run, body: RolloutBody): Promise<unknown> {
  const startedAt = now();
  const { reward, feedback } = judge(run, body);
  if (run.setup.rolloutMs > 0) await delay(run.setup.rolloutMs);
  run.ledger.push({ kind: 'rollout', startedAt, endedAt: now() });
  return { rollout_id: body.rollout_id, reward_info: { outcome_reward: reward, details: { feedback } } };
}

function judge({ world, answered, occurrences }: Run, { rollout_id: id, env, policy }: RolloutBody): Judgement {
  const known = answered.get(id);
  if (known) return known;
  const sections = policy.config.prompt_template?.sections ?? [];
  const given = sections.map(({ name = world.components[0]!, content }) => [name, content] as const);
  const foreign = given.find(([name]) => !world.components.includes(name));
  if (foreign) throw new Error(`no component ${foreign[0]}: name a section one of ${world.components.join(', ')}`);
  const texts: Texts = { ...world.baseline, ...Object.fromEntries(given) };
  const what = JSON.stringify([env.seed, texts]);
  const occurrence = occurrences.get(what) ?? 0;
  occurrences.set(what, occurrence + 1);
  const judgement = world.score(texts, env.seed, occurrence);
  answered.set(id, judgement);
  return judgement;
}

async function complete({ model, messages }: ChatBody): Promise<unknown> {
  const id = model.replace(/^task:/, '');
  const taskRun = taskRuns.get(id);
  const kind = id === model ? 'proposal' : 'call';
  const content = taskRun ? await taskRun.complete(kind, messages) : await propose(model, messages);
  return {
    id: `chatcmpl-${++completions}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

async function propose(model: string, messages: readonly ChatMessage[]): Promise<string> {
  const run = runs.get(model);
  if (!run) throw new Error(`no run ${model}`);
  const startedAt = now();
  if (run.setup.proposerMs > 0) await delay(run.setup.proposerMs);
  const content = run.world.reflect(messages.map((message) => message.content).join('\n'));
  run.ledger.push({ kind: 'proposal', startedAt, endedAt: now() });
  return content;
}
