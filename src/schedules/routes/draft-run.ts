/** The job of a run, as its own create would make it. */
import type { JobDraft, JobOwner } from '../../jobs/routes/create.js';
import { draftCheckup } from '../../kinds/checkup/routes/draft.js';
import { findServing } from '../../kinds/deployment/routes/find.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { refusalAsSent } from '../../platform/http/server/forms.js';
import type { ScheduleSpec } from '../contract/schedule.js';

/** A schedule, as far as its jobs follow from it. `id` null: it is not stored yet. */
export interface Drafted {
  id: string | null;
  name: string;
  spec: ScheduleSpec;
}

/** Throws what the create of the job would be answered with. `budgetUsd` null: no limit. */
export async function draftRun(
  deps: HttpDeps,
  caller: JobOwner,
  { id, name, spec }: Drafted,
  budgetUsd: number | null,
): Promise<JobDraft> {
  const live = await findServing(deps, { caller }, name);
  const { checkup, tags, metadata, notes, webhook_url } = spec;
  const labels = { tags, notes, metadata: { ...metadata, ...(id && { schedule_id: id }) } };
  const budget = budgetUsd === null ? undefined : { max_cost_usd: budgetUsd };
  const draft = await draftCheckup(deps, caller, live, { ...checkup, ...labels, webhook_url, budget }).catch(
    (error: unknown) => {
      throw refusalAsSent(error, [...(budgetOf(spec) === null ? [budgetOfMonth] : []), ['', '/checkup']]);
    },
  );
  return { ...draft, kind: 'checkup', algorithm: null, correlationId: null };
}

/** Where the dollars of a job stand in the request that has no others. */
const budgetOfMonth = ['/budget/max_cost_usd', '/max_cost_usd_per_month'] as const;

/** Dollars that a job of a schedule may cost by its own request; null: no limit. */
export const budgetOf = ({ checkup }: ScheduleSpec): number | null => checkup.budget?.max_cost_usd ?? null;
