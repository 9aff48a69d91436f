import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { StoodStill, Watch, type WatchLimits } from '../../activities/watch/watch.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';

// Invariant: work is given up if none of its calls returns, and only then.

const never = () => new Promise<never>(() => undefined);
const job = { orgId: 'default', jobId: 'evl_1' };

/** A watch that is some thousand times as fast, and what it reports. */
function watched(limits: Partial<WatchLimits> = {}) {
  const lines: Record<string, unknown>[] = [];
  const given: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  const metrics = { stoodStill: (work: string) => void given.push(work) };
  const watch = new Watch({ log, metrics }, job, 'drive', { everyMs: 1, tickMs: 1_000, slackMs: 0, ...limits });
  return { watch, lines, given };
}
const rollout = { kind: 'rollout', id: 'rol_1' } as const;
/** So many looks at the parts. */
const looks = async (count: number) => {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
};

test('a part that hangs is given up, named, counted and logged; the line of the activity goes on', async () => {
  const { watch, lines, given } = watched({ lineMs: 20_000 });
  const ended = watch.run(async () => {
    const hung = await watch.part(rollout, 10_000, never).catch((error: unknown) => error);
    return hung;
  });
  expect(await ended).toBeInstanceOf(StoodStill);
  expect(await ended).toMatchObject({ type: 'work_stood_still', nonRetryable: false });
  expect(given).toEqual(['rollout']);
  expect(lines).toMatchObject([{ job_id: 'evl_1', work: 'rollout rol_1', quiet_s: 11, code: 'work_stood_still' }]);
});

test('a line that hangs is given up once no part works, and what goes on of it is told', async () => {
  const { watch, given } = watched({ lineMs: 10_000 });
  const told: unknown[] = [];
  const part = gate();
  const ended = watch.run(
    async () => {
      const working = watch.part(rollout, Infinity, () => part.opened);
      await looks(50);
      expect(given).toEqual([]);
      part.open();
      await working;
      return never();
    },
    (reason) => told.push(reason),
  );
  await expect(ended).rejects.toMatchObject({ type: 'work_stood_still' });
  expect(told).toHaveLength(1);
  expect(given).toEqual(['line']);
});

test('a part whose calls return is not given up, however long it takes', async () => {
  const { watch, given } = watched();
  await watch.part(rollout, 20_000, async (part) => {
    for (let call = 0; call < 10; call += 1) await part.call(looks(5));
    await part.longCall(10_000_000, looks(50));
  });
  expect(given).toEqual([]);
});

test('to wait for a turn is no standstill while another part works; if all wait, it is', async () => {
  const { watch, given } = watched();
  const turn = gate();
  const waiting = watch.part(rollout, 20_000, (part) => part.turn(turn.opened));
  await watch.part({ kind: 'proposals' }, Infinity, () => looks(60));
  expect(given).toEqual([]);
  await expect(waiting).rejects.toBeInstanceOf(StoodStill);
});

test('its details are small, and say what the activity does and has recorded, and since when', async () => {
  const { watch } = watched();
  const open = gate();
  const parts = Array.from({ length: 500 }, (_, n) =>
    watch.part({ kind: 'rollout', id: `rol_${n}` }, Infinity, () => open.opened),
  );
  const proposals = watch.part({ kind: 'proposals' }, Infinity, () => open.opened);
  watch.recorded('6 outcomes');
  const { details } = watch;
  expect(details).toMatchObject({
    doing: 'rollout rol_0',
    inFlight: { rollout: 500, proposals: 1 },
    recorded: { what: '6 outcomes' },
  });
  expect(Date.parse(details.since)).toBeLessThanOrEqual(Date.parse(details.recorded!.at));
  expect(JSON.stringify(details).length).toBeLessThan(300);
  open.open();
  await Promise.all([...parts, proposals]);
  await until('the line is shown', () => watch.details.doing === 'drive');
});
