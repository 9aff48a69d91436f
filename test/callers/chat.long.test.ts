import { beforeAll, expect } from '@jest/globals';
import { built, deploy, saying } from '../support/deployments-over-http.js';
import { createGraphJob, createSession, deployments, ended, type GraphJob } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';
import { chatClients, targets as all, type ChatClient, type Ending, type Target } from './pins.js';
import { install } from './play.js';
import { greeting, orderOf, startProvider } from './provider.js';
import { scenarios, type Scenario } from './scenarios.js';

// The clients that people have, against a deployment, the proxy of a session and a graph.

const on = serviceOfFile(startProvider);
const policy = { provider: 'fake', model: 'm' };

let session: string;
beforeAll(async () => {
  const { service } = on;
  const sources = { greeter: saying('Greet.', policy), 'greeter-graph': { graph_job_id: await oneStep() } };
  for (const [name, source] of Object.entries(sources)) {
    const id = await deploy(service, { name, source });
    expect(await built(service, id)).toMatchObject({ status: 'ready' });
  }
  session = await createSession(service, {
    rollouts: 'caller',
    policy,
    proposer: policy,
    preflight: false,
    rollout_timeout: 3_600,
    initial_prompt: { messages: [{ role: 'system', content: 'Greet.' }] },
    gepa: { population_size: 1, generations: 1, evaluation: { seeds: [0, 1, 2] } },
  });
}, 120_000);

/** A graph of one step: the best of a job that has nothing to improve. */
async function oneStep(): Promise<string> {
  const tasks = range(0, 4).map((n) => ({ id: `task-${n}`, input: { question: orderOf('chat', `task-${n}`) } }));
  const id = await createGraphJob(on.service, {
    dataset: {
      initial_prompt: 'Obey: {{question}}',
      tasks,
      verifier_config: { mode: 'exact' },
      gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: greeting })),
    },
    policy_model: 'm',
    policy_provider: 'fake',
    proposer: policy,
    rollout_budget: 12,
    preflight: false,
  });
  expect(await ended<GraphJob>(on.service, id)).toMatchObject({ status: 'completed' });
  return id;
}

/** A scenario of a client at a target; `who` tells its requests apart. */
interface Part {
  name: string;
  target: Target;
  who: string;
  scenario: Scenario;
}

function partsOf({ lacks }: ChatClient, target: Target, whose: string): Part[] {
  return Object.entries(scenarios).flatMap(([name, scenario]) => {
    const { does, graph, isForRoot } = scenario;
    const isAsked = isForRoot ? target === 'deployment' : target !== 'graph' || graph !== null;
    if (!isAsked || lacks.includes(does)) return [];
    const asked = target === 'graph' ? { ...scenario, ...graph } : scenario;
    return [{ name: `${target}: ${name}`, target, who: `${whose}/${target}`, scenario: asked }];
  });
}

/** The base URL and the model of a target, as users of OpenAI's clients write them. */
function addressOf(target: Target, whose: string) {
  const { url } = on.service;
  if (target === 'session') return { url: `${url}/api/gepa/v1/${session}/${whose}`, model: 'm' };
  return { url: `${url}/v1`, model: target === 'graph' ? 'greeter-graph' : 'greeter' };
}

/** What a client should say. */
function expected({ errors, raises, hasNoText }: ChatClient, { says }: Scenario): object {
  const { status, code, text, ...rest } = says as { status?: Ending; code?: string; text?: string };
  if (status === undefined) return { ...rest, ...(text !== undefined && !hasNoText && { text }) };
  const known = { ...(status !== 'stream' && { status }), ...(code !== undefined && { code }) };
  const names = [errors[status], ...(raises === undefined ? [] : [raises])];
  return { ...known, errors: expect.arrayContaining(names) };
}

/** The requests that a scenario takes: some clients repeat what is in vain. */
function requestsOf({ vainTries = 1, knowsAsFinal = [] }: ChatClient, { name, scenario }: Part): number | undefined {
  const { says, requests } = scenario;
  const { status } = says as { status?: Ending };
  const mayRepeat = typeof status === 'number' && (status === 429 || status >= 500) && !knowsAsFinal.includes(name);
  return requests === 1 && mayRepeat ? vainTries : requests;
}

async function aborted(): Promise<number> {
  let sum = 0;
  for (const name of ['greeter', 'greeter-graph']) {
    const stats = await on.service.api.call<{ aborted: number }>('GET', `${deployments}/${name}/stats`);
    sum += stats.aborted;
  }
  return sum;
}

for (const client of chatClients) {
  const { language, name, version, api = 'chat', module, targets = all } = client;
  const whose = `${name.replace(/\W/g, '')}-${version}-${api}`;
  const { test, play } = install(client);

  test(`${name} ${version} for ${language}, in the form ${api}`, async () => {
    const before = await aborted();
    const parts = targets.map((target) => partsOf(client, target, whose));
    const said = await play(
      language === 'Python' ? 'play.py' : 'play.mjs',
      [module],
      parts.map((beside) =>
        beside.map(({ name, target, who, scenario: { does, order = 'chat', key, model } }) => ({
          name,
          does,
          key: key ?? on.service.apiKey,
          question: orderOf(order, who),
          ...addressOf(target, whose),
          ...(model && { model }),
        })),
      ),
    );
    on.world.release();
    const played = parts.flat();
    expect(Object.keys(said)).toEqual(played.map(({ name }) => name));
    expect(said).toMatchObject(
      Object.fromEntries(played.map(({ name, scenario }) => [name, expected(client, scenario)])),
    );
    const counted = played.filter(({ scenario }) => scenario.requests !== undefined);
    const tries = counted.map(({ name, who, scenario: { order = 'chat' } }) => [name, on.world.tries(order, who)]);
    expect(tries).toEqual(counted.map((part) => [part.name, requestsOf(client, part)]));
    const left = played.filter(({ target, scenario: { does } }) => does === 'abort' && target !== 'session');
    await until('the callers that left are counted', async () => (await aborted()) === before + left.length);
  }, 240_000);
}
