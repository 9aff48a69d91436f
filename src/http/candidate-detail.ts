import type { z } from 'zod';
import { componentNames, textsOf } from '../contracts/components.js';
import { renderPrompt } from '../contracts/demos.js';
import type { candidateDetailSchema } from '../contracts/lineage.js';
import type { Status } from '../core/status.js';
import type { Tx } from '../storage/db.js';
import { readAncestry, readFeedback, type Ancestor } from '../storage/lineage.js';
import { readCandidates } from '../storage/reads.js';
import { readJudged } from './decision-view.js';
import { readAttempts, reflectionView } from './reflection-view.js';
import { attributePrompt, segmentViews, shownTo } from './segments-view.js';
import { candidateView } from './sessions-view.js';
import { unifiedDiff } from './text-diff.js';
import { readTrialView } from './trial-view.js';

type Detail = z.output<typeof candidateDetailSchema>;

/** Where a candidate of a session comes from, or null: the session has no such candidate. */
export async function readCandidateDetail(
  tx: Tx,
  job: { jobId: string; status: Status },
  candidateId: string,
): Promise<Detail | null> {
  const [[row], line] = await Promise.all([
    readCandidates(tx, job.jobId, { id: candidateId }),
    readAncestry(tx, job.jobId, candidateId),
  ]);
  const self = line.at(-1);
  if (!row || !self) return null;
  const segments = attributePrompt(line);
  const origins = new Set(segments.map(({ candidate }) => candidate));
  const sources = new Map(line.map((one) => [one.leverVersion, one]));
  const wanted = [...origins].flatMap((origin) => shownTo(sources.get(origin)!));
  const [judged, attempts, feedback] = await Promise.all([
    readJudged(tx, job.jobId, job.status, [row]),
    readAttempts(tx, job.jobId, self),
    readFeedback(tx, job.jobId, [...new Set([...self.ordinals, ...wanted])]),
  ]);
  const { decision, tried } = judged.get(row.id)!;
  const parents = line.filter(({ id }) => self.parentIds.includes(id));
  return {
    session_id: job.jobId,
    job_id: job.jobId,
    ...candidateView(row),
    decision,
    messages: self.messages && renderPrompt(self.messages, self.demos),
    diff: parents.flatMap((parent) => diffs(parent, self)),
    reflection: reflectionView(self, parents[0] ?? null, attempts, feedback),
    minibatch: await readTrialView(tx, job.jobId, line, { generation: row.generation, tried }),
    segments: segmentViews(segments, sources, feedback),
  };
}

/** The components in which a candidate differs from a parent. */
function diffs(parent: Ancestor, self: Ancestor): Detail['diff'] {
  const before = textsOf(parent.messages);
  const after = textsOf(self.messages);
  return componentNames(self.messages ?? [])
    .filter((component) => before[component] !== after[component])
    .map((component) => ({
      parent_id: parent.id,
      component,
      unified: unifiedDiff(
        { name: parent.id, text: before[component] ?? '' },
        { name: self.id, text: after[component] ?? '' },
      ),
    }));
}
