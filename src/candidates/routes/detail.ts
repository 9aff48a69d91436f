import type { Status } from '../../core/jobs/status.js';
import type { UnitSource } from '../../core/jobs/unit.js';
import { candidateTexts } from '../store/candidates.js';
import type { Tx } from '../../platform/db/db.js';
import { readAncestry, readFeedback, type Ancestor } from '../store/lineage.js';
import { readCandidates } from '../store/reads.js';
import { decisionView } from './decision-view.js';
import { readAttempts, reflectionView } from './reflection-view.js';
import { attributePrompt, segmentViews, shownTo } from './segments-view.js';
import { candidateView } from './view.js';
import { unifiedDiff } from './text-diff.js';
import { readTestView } from './test-view.js';

/** A candidate's origin, in the fields of all kinds of job; null: the job has no such candidate. */
export async function readOrigin(
  tx: Tx,
  job: { jobId: string; spec: UnitSource; status: Status },
  candidateId: string,
) {
  const [[row], line] = await Promise.all([
    readCandidates(tx, job.jobId, { id: candidateId }),
    readAncestry(tx, job.jobId, candidateId),
  ]);
  const self = line.at(-1);
  if (!row || !self) return null;
  const segments = attributePrompt(line);
  const origins = new Set(segments.map(({ candidate }) => candidate));
  const sources = new Map(line.map((ancestor) => [ancestor.leverVersion, ancestor]));
  const ordinals = self.reflection?.ordinals ?? [];
  const wanted = [...origins].flatMap((origin) => shownTo(sources.get(origin)!));
  const [attempts, feedback] = await Promise.all([
    self.reflection ? readAttempts(tx, job.jobId, self) : [],
    readFeedback(tx, job.jobId, [...new Set([...ordinals, ...wanted])]),
  ]);
  const shownSeeds = new Set(ordinals.map((ordinal) => feedback.get(ordinal)?.seed ?? null));
  const parents = line.filter(({ id }) => self.parentIds.includes(id));
  const shown = {
    ...candidateView(row),
    decision: decisionView(row, job),
    diff: parents.flatMap((parent) => diffs(parent, self)),
    is_given: self.isGiven,
    reflection: reflectionView(self, attempts, feedback),
    minibatch: await readTestView(tx, job.jobId, row, shownSeeds),
    segments: segmentViews(segments, sources, feedback),
  };
  return { self, shown };
}

/** Diffs of the components that differ from a parent; the parent's own components last. */
function diffs(parent: Ancestor, self: Ancestor) {
  const before = candidateTexts(parent);
  const after = candidateTexts(self);
  return Object.keys({ ...after, ...before })
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
