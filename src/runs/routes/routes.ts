import type { z } from 'zod';
import { marksOf } from '../../jobs/routes/lists.js';
import { readJobs } from '../../jobs/store/jobs.js';
import { readCosts } from '../../jobs/store/usage.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { pageOf } from '../../platform/http/server/pages.js';
import { problems } from '../../platform/http/server/schema.js';
import { runsQuerySchema, runsSchema, type RunSort, type RunsQuery } from '../contract/run.js';
import { groupRuns, listRuns, sumRuns, type RunFilter, type RunOrder, type RunSums } from '../store/runs.js';
import { registerRunCommands } from './commands.js';
import { parsePlace, placeText } from './place.js';
import { runView } from './view.js';

const runsBase = '/api/v1/runs';
const mostGroups = 100;

export function registerRuns(app: App, deps: HttpDeps): void {
  app.get(
    runsBase,
    {
      schema: {
        tags: ['Runs'],
        operationId: 'listRuns',
        summary: 'Runs of all kinds, sorted, grouped and summed',
        description:
          'Sessions, evaluations and graph jobs. Jobs that a gate, a migration or a checkup started are left out unless parts=true.',
        querystring: runsQuerySchema,
        response: { 200: runsSchema, ...problems(422) },
      },
    },
    ({ caller, query }) => runsPage(deps, caller.orgId, query),
  );
  registerRunCommands(app, deps);
}

async function runsPage({ db }: HttpDeps, orgId: string, query: RunsQuery): Promise<z.output<typeof runsSchema>> {
  const { limit, group_by: grouping } = query;
  const filter: RunFilter = {
    ...marksOf(query),
    kind: query.kind,
    dataset: query.dataset,
    model: query.model,
    parts: query.parts,
  };
  const order = orderOf(query.sort);
  const after = parsePlace(query.cursor, order.by);
  return db.org(orgId, async (tx) => {
    const rows = await listRuns(tx, filter, order, { after, limit: limit + 1 });
    const ids = rows.map(({ id }) => id);
    const jobs = new Map((await readJobs(tx, ids)).map((job) => [job.jobId, job]));
    const costs = await readCosts(tx, ids);
    const page = pageOf(rows, limit, placeText, (row) => {
      const job = jobs.get(row.id);
      return job ? runView(row, job, costs.get(row.id) ?? null) : null;
    });
    const isFirst = after === undefined;
    const groups = isFirst && grouping !== 'none' ? await groupRuns(tx, filter, grouping, mostGroups) : null;
    return {
      ...page,
      // A run may be deleted while it is listed.
      data: page.data.filter((run) => run !== null),
      totals: isFirst ? sumsView(await sumRuns(tx, filter)) : null,
      groups: groups && groups.map(({ key, name, ...sums }) => ({ key, name, ...sumsView(sums) })),
    };
  });
}

function orderOf(sort: RunsQuery['sort']): RunOrder {
  const isDescending = sort.startsWith('-');
  return { by: (isDescending ? sort.slice(1) : sort) as RunSort, isDescending };
}

function sumsView({ runs, costUsd, unpriced, rollouts }: Pick<RunSums, 'runs' | 'costUsd' | 'unpriced' | 'rollouts'>) {
  return { runs, total_cost_usd: costUsd, runs_of_unknown_cost: unpriced, rollouts };
}
