import type { z } from 'zod';
import { compareQuerySchema, comparisonSchema } from '../contract/comparison.js';
import { compareBySeed, sideOf } from '../../core/search/comparison.js';
import { unitOf, type Unit } from '../../core/jobs/unit.js';
import { counted } from '../../core/math/words.js';
import { readSeedMeans, type SeedsMeasured } from '../../rollouts/store/by-seed.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { refuse } from '../../platform/http/server/errors.js';
import { problems } from '../../platform/http/server/schema.js';
import { candidateOf, checkComparable, readCompared, readSelected, type Compared } from './compared.js';

/** The comparison of two candidates, whatever jobs ran them. */
export function registerComparePair(app: App, { db }: HttpDeps): void {
  app.get(
    '/api/v1/compare',
    {
      schema: {
        tags: ['Comparison'],
        operationId: 'compareCandidates',
        summary: 'Compare two candidates on common seeds',
        description:
          'b minus a, paired by seed, over succeeded rollouts. Seeds on which a search selected either candidate are left out if at least two others are common. Both sides must run the same instances: the same data set and scorer, the same container_url, env_name and env_config, or the same tasks of graph jobs.',
        querystring: compareQuerySchema,
        response: { 200: comparisonSchema, ...problems(404, 409, 422) },
      },
    },
    (request) =>
      db.org(request.caller.orgId, async (tx): Promise<z.output<typeof comparisonSchema>> => {
        const a = await readCompared(tx, 'a', request.query.a);
        const b = await readCompared(tx, 'b', request.query.b);
        await checkComparable(tx, a, b);
        const [ofSearchA, ofSearchB] = [await readSelected(tx, a), await readSelected(tx, b)];
        const ofA = await readSeedMeans(tx, a.jobId, a.candidateId);
        const ofB = await readSeedMeans(tx, b.jobId, b.candidateId);
        const unit = unitOf(b.spec);
        const compared = compareBySeed(ofA.means, ofB.means, (seed) => ofSearchA(seed) || ofSearchB(seed));
        if (!compared) throw noCommonSeed(ofA, ofB, unit);
        const { verdict, low, high, difference, basis, seeds, rowsNeeded } = compared.verdict;
        return {
          a: sideView(a, ofA, compared.seeds),
          b: sideView(b, ofB, compared.seeds),
          unit,
          seeds_in_common: [...ofA.means.keys()].filter((seed) => ofB.means.has(seed)).length,
          seeds_compared: seeds,
          compared_seeds: compared.seeds,
          basis,
          difference: { mean: difference, low, high },
          verdict,
          rows_needed: rowsNeeded,
          won: compared.won,
          lost: compared.lost,
          tied: compared.tied,
        };
      }),
  );
}

function sideView(side: Compared, { means, failed }: SeedsMeasured, compared: readonly number[]) {
  const { reward, interval, costUsd, latencyMs } = sideOf(means, compared);
  return {
    id: side.id,
    kind: side.kind,
    job_id: side.jobId,
    candidate_id: candidateOf(side),
    mean_reward: reward,
    mean_reward_interval: interval,
    seeds: means.size,
    seeds_failed: failed.length,
    cost_usd: costUsd,
    latency_ms: latencyMs,
  };
}

function noCommonSeed(a: SeedsMeasured, b: SeedsMeasured, unit: Unit) {
  const message = `has no ${unit} in common with a: ${counted(b.means.size, unit)} of b and ${a.means.size} of a have a reward; evaluate both on the same ${unit}s`;
  return refuse.invalid([{ pointer: '/b', message }], 'no_common_seeds');
}
