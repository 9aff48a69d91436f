import { Agent, request } from 'undici';
import { graphToJson } from '../../src/core/graphs/json.js';
import { now } from '../clock.js';
import { chain } from '../graph/shapes.js';
import { system } from '../inference-load.js';
import { graphJob } from '../jobs.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const calls = 2_000;
const modelMs = 5_000;
const patienceMs = 120_000;
const policy = { provider: 'fake', model: `wait-${modelMs}` };

/** Answers to calls that are sent at once, by status or fault, and milliseconds of each. */
interface Answers {
  statuses: Record<string, number>;
  ms: number[];
}

/** As many calls at once to a slow model: whole, streamed, and of a graph. */
export async function run(world: World): Promise<Row[]> {
  await deploy(world, 'slow', { messages: [system], policy });
  await deploy(world, 'slow-graph', { graph_job_id: await oneStep(world) });
  const dispatcher = new Agent({ pipelining: 1, connect: { timeout: patienceMs }, headersTimeout: patienceMs });
  try {
    const rows: Row[] = [];
    for (const [what, name, stream] of [
      ['deployment calls', 'slow', false],
      ['streamed deployment calls', 'slow', true],
      ['calls of a graph', 'slow-graph', false],
    ] as const)
      rows.push(...(await allAtOnce(world, dispatcher, { what, name, stream })));
    return rows;
  } finally {
    await dispatcher.destroy();
  }
}

async function deploy(
  world: World,
  name: string,
  source: Parameters<World['client']['createDeployment']>[0]['source'],
) {
  const { status, error } = await world.client.createDeployment({ name, source }).wait();
  if (status !== 'ready') throw new Error(`the deployment is ${status}: ${error}`);
}

/** A graph of one step whose model is slow. */
async function oneStep(world: World): Promise<string> {
  const { jobId } = await graphJob(world, {
    dataset: {
      tasks: [{ id: 'task', input: { question: 'Parcel?' } }],
      gold_outputs: [{ task_id: 'task', output: 'parcel' }],
      verifier_config: { mode: 'contains' },
    },
    policy_model: policy.model,
    policy_provider: policy.provider,
    rollout_budget: 10,
    preflight: false,
    initial_graph: graphToJson(chain(1).graph),
  });
  return jobId;
}

interface Kind {
  what: string;
  name: string;
  stream: boolean;
}

async function allAtOnce(world: World, dispatcher: Agent, { what, name, stream }: Kind): Promise<Row[]> {
  const idle = world.memory().now;
  world.resetMemoryPeak();
  await world.model.ask('most in flight');
  const answers: Answers = { statuses: {}, ms: [] };
  const startedAt = now();
  const call = async (index: number) => {
    const status = await ask(dispatcher, world, { what, name, stream }, index);
    answers.statuses[status] = (answers.statuses[status] ?? 0) + 1;
    answers.ms.push(now() - startedAt);
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => call(index)));
  const wall = now() - startedAt;
  const atModel = await world.model.ask<number>('most in flight');
  const { peak } = world.memory();
  const all = `${calls.toLocaleString('en-US')} ${what} at once to a model of ${modelMs / 1_000} s`;
  return [
    {
      what: `${all}: answers other than 200`,
      value: calls - (answers.statuses['200'] ?? 0),
      unit: 'answers',
      aim: { of: 'value', most: 0 },
      raw: answers.statuses,
    },
    { what: `${all}: wall`, value: wall / 1_000, unit: 's', beside: { what: 'ideal', value: modelMs / 1_000 } },
    { what: `${all}: p50`, value: percentile(answers.ms, 50) / 1_000, unit: 's' },
    { what: `${all}: most at the model`, value: atModel, unit: 'calls', beside: { what: 'sent', value: calls } },
    {
      what: `${all}: peak memory of API and worker`,
      value: peak,
      unit: 'MiB',
      beside: { what: 'before', value: idle },
    },
  ];
}

/** The status of a call, or its fault. */
async function ask(dispatcher: Agent, { url, apiKey }: World, { name, stream }: Kind, index: number): Promise<string> {
  const messages = [{ role: 'user', content: `Where is parcel ${index}?` }];
  try {
    const { statusCode, body } = await request(`${url}/v1/chat/completions`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: name, messages, stream }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await body.text();
    const isWhole = stream ? text.endsWith('data: [DONE]\n\n') : text.includes('"choices"');
    return statusCode === 200 && !isWhole ? 'cut' : String(statusCode);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? (error as Error).message);
  }
}
