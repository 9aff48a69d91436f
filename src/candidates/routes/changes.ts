import { z } from 'zod';
import { changesQuerySchema, changesSchema } from '../contract/changes.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRow } from '../../jobs/store/jobs.js';
import type { JobRoute } from '../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { problems } from '../../platform/http/server/schema.js';
import { readAncestry, type Ancestor } from '../store/lineage.js';
import { candidateOf, noCandidate } from './candidate-of.js';
import { changesView } from './changes-view.js';

type Against = z.output<typeof changesQuerySchema>['against'];

/** The rows of a measured candidate: an evaluation without one of its edits is compared on them. */
export interface MeasuredRows {
  basis: 'heldout' | 'evaluation';
  seeds: number[];
}

/** The routes of a candidate's changes. `measured` null: jobs of the kind measure no edit alone. */
export function registerChanges<Head>(
  app: App,
  deps: HttpDeps,
  { path, params, name, tags, find }: JobRoute<Head>,
  measured: ((tx: Tx, job: JobRow<Head>, candidateId: string) => Promise<MeasuredRows | null>) | null,
): void {
  app.get(
    `${path}/candidates/:candidate_id/changes`,
    {
      schema: {
        tags,
        operationId: `get${name}Changes`,
        summary: 'What a candidate changes, with evidence',
        description:
          'The edits that make its prompt of an earlier one, sentence by sentence: moved lines are moves. Each names the candidate that wrote it; authors have the feedback that they were shown, and the rows that they won and lost against their parent.',
        params: params.extend({ candidate_id: z.string() }),
        querystring: changesQuerySchema,
        response: { 200: changesSchema, ...problems(404, 409, 422) },
      },
    },
    async (request): Promise<z.output<typeof changesSchema>> => {
      const { against } = request.query;
      const job = await find(request);
      const candidateId = candidateOf(request.params.candidate_id);
      return deps.db.org(job.orgId, async (tx) => {
        const { line, before } = await readCompared(tx, job.jobId, candidateId, against);
        const rows = (await measured?.(tx, job, candidateId)) ?? null;
        return {
          job_id: job.jobId,
          ...(await changesView(tx, job.jobId, line, before)),
          ablation: rows && { basis: rows.basis, rows: rows.seeds.length },
        };
      });
    },
  );
}

/** A candidate after its ancestors, and the one that it is compared with. */
export async function readCompared(
  tx: Tx,
  jobId: string,
  candidateId: string,
  against: Against,
): Promise<{ line: Ancestor[]; before: Ancestor }> {
  const line = await readAncestry(tx, jobId, candidateId);
  const self = line.at(-1);
  if (!self) throw noCandidate(candidateId);
  const before = await earlierOf(tx, jobId, line, against);
  for (const { id, messages, graph } of [before, self])
    if (!messages && !graph)
      throw new ApiError(409, 'candidate_not_ready', `The prompt of ${id} is not known yet. Wait for the baseline.`);
  return { line, before };
}

async function earlierOf(tx: Tx, jobId: string, line: readonly Ancestor[], against: Against): Promise<Ancestor> {
  const self = line.at(-1)!;
  if (against === 'baseline') return line[0]!;
  if (against === 'parent') return line.find(({ id }) => id === self.parentIds[0]) ?? self;
  const other = line.find(({ id }) => id === against) ?? (await readAncestry(tx, jobId, against)).at(-1);
  if (other) return other;
  const message = 'must be baseline, parent or a candidate of the same job';
  throw refuse.invalid([{ pointer: '/against', message }], 'candidate_not_found');
}
