import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { decimal, dollars, intervalText, meanText, rowsNeededText, say, sayJson } from '../service/output.js';

/** Compares two evaluations, sessions, candidates or deployments; fails unless `b` is better. */
export async function compare(a: string, b: string, { json = false }: { json?: boolean }): Promise<void> {
  await withService(async (client) => {
    const found = await client.compare(a, b);
    const { difference, seeds_compared: seeds, won, lost, tied, verdict, rows_needed: needed } = found;
    if (json) sayJson(found);
    else {
      for (const [name, side] of Object.entries({ a: found.a, b: found.b })) {
        const latency = side.latency_ms === null ? '' : `, ${Math.round(side.latency_ms.mean)} ms`;
        say(
          `${name}  ${side.id}: mean reward ${meanText(side.mean_reward, side.mean_reward_interval)}, ${dollars(side.cost_usd)} a rollout${latency}`,
        );
      }
      say(
        `b - a: ${decimal(difference.mean)} (${intervalText(difference)}) on ${seeds} seeds; b won ${won}, lost ${lost}, tied ${tied}${rowsNeededText(needed)}`,
      );
    }
    if (verdict === 'inconclusive') throw new FailedJob('The comparison is inconclusive: chance alone may explain it.');
    if (verdict === 'worse') throw new FailedJob('b is worse.');
    if (!json) say('b is better.');
  });
}
