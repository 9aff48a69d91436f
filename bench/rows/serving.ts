import type { Body } from '../../src/client/types.js';
import { redactedKinds } from '../../src/kinds/deployment/contract/settings.js';
import { exampleModels } from '../../src/util/example-models.js';
import { now } from '../clock.js';
import { cpuMs, latency, measure, system, type Load, type Measured, type Target } from '../inference-load.js';
import { until } from '../../test/support/until.js';
import { median, percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

type Create = Body<'createDeployment'>;
type Settings = Pick<Create, 'log' | 'fallbacks' | 'limits' | 'judge'>;

/** What stands on the path of a deployment call. */
interface Path {
  what: string;
  settings: Settings;
  headers?: Target['headers'];
  /** Each answer gets feedback. */
  isReported?: true;
  /** How a second version takes requests. */
  rollout?: NonNullable<Create['rollout']>;
}

const load: Load = { perSecond: 50, seconds: 4, stream: false, directEvery: 5, textOf: ordinaryText };
/** Slices of each path, in turn: the plain one stands beside those of its round. */
const rounds = 8;
/** Priced, because limits of dollars need a price. */
const [policy, other] = exampleModels.map((name) => ({ provider: 'openai', model: name.replace('openai/', '') }));

const limitSet = {
  requests_per_minute: 1_000_000,
  tokens_per_minute: 1_000_000_000,
  calls_in_flight: 1_000,
  spend_usd_per_day: 1_000_000,
};
const log = { sample_rate: 1, redact: [...redactedKinds] };
const fallbacks = { models: [other!], retries: 1, timeout: 60 };
const limits = { total: limitSet, per_key: limitSet, per_tag: limitSet };
const ofTag = (index: number) => ({ 'x-ratchet-tag': `tenant-${index % 50}` });

const plain: Path = { what: 'plain', settings: {} };
const paths: readonly Path[] = [
  { what: 'a log of all texts', settings: { log: { sample_rate: 1, redact: [] } } },
  { what: 'a log, redacted with all kinds', settings: { log } },
  { what: 'fallbacks that are not needed', settings: { fallbacks: { ...fallbacks } } },
  { what: 'all limits in total', settings: { limits: { total: limitSet } } },
  { what: 'all limits in total, by key and by tag', settings: { limits }, headers: ofTag },
  { what: 'redacted log, fallbacks and all limits', settings: { log, fallbacks, limits }, headers: ofTag },
  { what: 'the split of a canary, half and half', settings: {}, rollout: { steps: [50, 100], hold: '1d' } },
  { what: 'a judge of 5 % of the answers', settings: { judge: { scorer: { type: 'regex', pattern: '.' } } } },
  { what: 'feedback on each answer', settings: {}, isReported: true },
];

/** About 2 kB with some of what is redacted. */
function ordinaryText(index: number): string {
  const line = `My parcel ${index} was to come on Monday, and the driver left a note that nobody had opened the door. `;
  return `${line.repeat(18)} Please write to anna.${index}@example.org or call +1 202 555 0147.`;
}

/** A path while it is measured. */
interface Measuring {
  path: Path;
  target: Target;
  slices: Measured[];
}

/** What each part of the path of a deployment call adds to a plain call, in turn with it. */
export async function run(world: World): Promise<Row[]> {
  const feedbackMs: number[] = [];
  const all: Measuring[] = [];
  for (const [index, path] of [plain, ...paths].entries())
    all.push({ path, target: await deploy(world, `path-${index}`, path, feedbackMs), slices: [] });
  for (const { target } of all) await measure(world, [target], { ...load, seconds: 1 });
  feedbackMs.length = 0;
  for (let round = 0; round < rounds; round += 1) {
    // Each path follows each other one.
    const first = round % all.length;
    for (const { target, slices } of [...all.slice(first), ...all.slice(0, first)])
      slices.push(await measure(world, [target], load));
  }
  const [beside, ...measured] = all as [Measuring, ...Measuring[]];
  return [
    ...modelRows(beside),
    ...measured.flatMap((one) => pathRows(one, beside)),
    { what: 'feedback on an answer: p50', value: percentile(feedbackMs, 50), unit: 'ms' },
    { what: 'feedback on an answer: p99', value: percentile(feedbackMs, 99), unit: 'ms' },
  ];
}

async function deploy(
  world: World,
  name: string,
  { settings, headers, isReported, rollout }: Path,
  feedbackMs: number[],
) {
  const source = { messages: [system], policy: policy! };
  const deployment = world.client.createDeployment({ name, source, ...settings });
  const { status, error } = await deployment.wait();
  if (status !== 'ready') throw new Error(`the deployment is ${status}: ${error}`);
  if (rollout) await rollOut(world, { name, source, rollout });
  const path = `/api/harbor/deployments/${name}`;
  const report = async ({ id }: { id: string }) => {
    const from = now();
    await world.call('POST', `${path}/feedback`, { answer_id: id, reward: 1 });
    feedbackMs.push(now() - from);
  };
  return {
    url: world.url + path,
    key: world.apiKey,
    ...(headers && { headers }),
    ...(isReported && { onAnswer: report }),
  };
}

/** Begins the rollout of a second version. */
async function rollOut(world: World, body: Create): Promise<void> {
  const next = await world.client.createDeployment(body);
  await until(`${body.name} is rolled out`, async () => (await next.get()).status === 'rolling_out');
}

const at = `at ${load.perSecond}/s`;
const p = (each: number) => (slice: Measured) => latency(slice.through, 'end', each);
const overSlices = ({ slices }: Measuring, of: (slice: Measured) => number) => median(slices.map(of));
const cpu = ({ through, spent }: Measured) => cpuMs(spent, through.length);

/** A plain call beside the model. */
function modelRows(beside: Measuring): Row[] {
  return [50, 99].map((each) => ({
    what: `deployment call ${at}, plain: p${each}`,
    value: overSlices(beside, p(each)),
    unit: 'ms',
    beside: {
      what: 'the model called directly',
      value: overSlices(beside, ({ direct }) => latency(direct, 'end', each)),
    },
  }));
}

function pathRows(one: Measuring, beside: Measuring): Row[] {
  const row = (what: string, of: (slice: Measured) => number): Row => {
    const added = median(one.slices.map((slice, round) => of(slice) - of(beside.slices[round]!)));
    const plainValue = overSlices(beside, of);
    return {
      what: `deployment call ${at}, ${one.path.what}: ${what}`,
      // The difference is that of each round: the machine changes between rounds.
      value: plainValue + added,
      unit: 'ms',
      beside: { what: 'plain', value: plainValue },
      raw: one.slices.map((slice, round) => [of(slice), of(beside.slices[round]!)]),
    };
  };
  return [{ ...row('p50', p(50)), aim: { of: 'difference', most: 1 } }, row('p99', p(99)), row('CPU a call', cpu)];
}
