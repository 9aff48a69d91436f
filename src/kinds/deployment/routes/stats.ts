/** Statistics of the requests of deployments: in all, by period, and the latest failures. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { periodMs, startOf, type Period, type Width } from '../../../core/deployments/periods.js';
import type { Sample } from '../../../core/math/statistics.js';
import { isoOrNull } from '../../../jobs/routes/view.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { problems } from '../../../platform/http/server/schema.js';
import { deploymentStatsSchema, failuresSchema, historyQuerySchema, historySchema } from '../contract/stats.js';
import { noRequests, readFailures, readPeriods, type RequestTotals } from '../store/counters.js';
import { readVersions } from '../store/deployments.js';
import { readMetrics } from '../store/feedback.js';
import { readReviewedAnswers } from '../../../reviews/store/reviews.js';
import { judgeKey } from '../store/judgements.js';
import { readJudgeState } from '../store/judges.js';
import { find, path, tags } from './find.js';
import { countsView, judgedView } from './stats-view.js';

const params = z.object({
  deployment_id: z.string().describe('Its id, the name that it serves, NAME@LABEL or NAME@VERSION.'),
});
const nameParams = z.object({
  deployment_id: z.string().describe('An id, NAME@LABEL or NAME@VERSION, or a name: all its deployments.'),
});

/** Periods before `to` by default. */
const shown: Record<Period, number> = { hour: 24, minute: 60 };

export function registerStats(app: App, deps: HttpDeps): void {
  app.get(
    `${path}/stats`,
    {
      schema: {
        tags,
        operationId: 'getDeploymentStats',
        summary: 'Request statistics since it went live',
        params,
        response: { 200: deploymentStatsSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { id, orgId, name, liveAt } = await find(deps, request, request.params.deployment_id);
      const { judged, reviewed } = await deps.db.org(orgId, async (tx) => {
        const judged = await readJudgeState(tx, name);
        return { judged, reviewed: judged ? await readReviewedAnswers(tx, name, judgeKey) : [] };
      });
      const {
        rows: [row],
      } = await readAll(deps, orgId, [id], 'all', { from: new Date(0), to: new Date(1) });
      const { totals = noRequests(), metrics = {} } = row ?? {};
      return {
        deployment_id: id,
        since: isoOrNull(liveAt),
        ...countsView(totals, metrics),
        judge: judgedView(judged, reviewed),
      };
    },
  );

  app.get(
    `${path}/history`,
    {
      schema: {
        tags,
        operationId: 'getDeploymentHistory',
        summary: 'Request statistics by hour or minute',
        params: nameParams,
        querystring: historyQuerySchema,
        response: { 200: historySchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { query, params } = request;
      const range = rangeOf(query);
      const { orgId, ids } = await versionsOf(deps, request, params.deployment_id);
      const { rows, next } = await readAll(deps, orgId, ids, query.per, range);
      const data = rows.map(({ start, deploymentId, totals, metrics }) => {
        return { start: start.toISOString(), deployment_id: deploymentId, ...countsView(totals, metrics) };
      });
      const { from, to } = range;
      const shown = { from: from.toISOString(), to: to.toISOString(), next_from: isoOrNull(next) };
      return { per: query.per, ...shown, data };
    },
  );

  app.get(
    `${path}/failures`,
    {
      schema: {
        tags,
        operationId: 'listDeploymentFailures',
        summary: 'The latest 50 failed requests, newest first',
        params,
        response: { 200: failuresSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { id, orgId } = await find(deps, request, request.params.deployment_id);
      const failures = await deps.db.org(orgId, (tx) => readFailures(tx, id));
      const data = failures.map(({ answerId, at, status, code, message, latencyMs }) => {
        return { answer_id: answerId, at: at.toISOString(), status, code, message, latency_ms: latencyMs };
      });
      return { data };
    },
  );
}

/** The deployment of an id, or all of a name. */
async function versionsOf(deps: HttpDeps, request: FastifyRequest, ref: string) {
  const { id, orgId, name } = await find(deps, request, ref);
  if (ref !== name) return { orgId, ids: [id] };
  return { orgId, ids: await deps.db.org(orgId, (tx) => readVersions(tx, name)) };
}

interface Range {
  from: Date;
  to: Date;
}

/** The periods of a query: whole ones. */
function rangeOf({ per, from, to }: z.output<typeof historyQuerySchema>): Range {
  const end = to === undefined ? new Date() : new Date(to);
  const begin = from === undefined ? new Date(+end - shown[per] * periodMs[per]) : new Date(from);
  if (begin > end) throw refuse.invalid([{ pointer: '/from', message: 'must be before to' }]);
  return { from: new Date(startOf(per, +begin)), to: end };
}

interface PeriodRow {
  start: Date;
  deploymentId: string;
  totals: RequestTotals;
  metrics: Record<string, Sample>;
}

/** Requests and metrics by period, in the order of time; `next` as of `readPeriods`. */
function readAll(
  deps: HttpDeps,
  orgId: string,
  ids: string[],
  width: Width,
  range: Range,
): Promise<{ rows: PeriodRow[]; next: Date | null }> {
  return deps.db.org(orgId, async (tx) => {
    const rows = new Map<string, PeriodRow>();
    const rowOf = ({ start, deploymentId }: { start: Date; deploymentId: string }) => {
      const key = `${start.toISOString()} ${deploymentId}`;
      const row = rows.get(key) ?? { start, deploymentId, totals: noRequests(), metrics: {} };
      rows.set(key, row);
      return row;
    };
    const { sums, next } = await readPeriods(tx, ids, width, range);
    for (const totals of sums) rowOf(totals).totals = totals;
    const metrics = await readMetrics(tx, ids, width, { ...range, to: next ?? range.to });
    for (const each of metrics) rowOf(each).metrics[each.metric] = each.sample;
    return { rows: [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row), next };
  });
}
