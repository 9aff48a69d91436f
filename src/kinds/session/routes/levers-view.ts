import type { z } from 'zod';
import { demoMessages, renderPrompt } from '../../../core/prompts/demos.js';
import { componentTexts } from '../../../core/prompts/components.js';
import type {
  leverFields,
  leverListSchema,
  leverVersionItemSchema,
  leverVersionSchema,
} from '../../../candidates/contract/levers.js';
import type { candidateSchema } from '../../../candidates/contract/candidate.js';
import { candidateId, demosPart, leverId } from '../../../core/jobs/ids.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import { versionsOf, type ComponentLevers, type LeverVersion } from '../../../candidates/store/levers.js';
import { iso } from '../../../jobs/routes/view.js';

type Session = JobRow<SessionHead>;
type Candidate = Pick<z.output<typeof candidateSchema>, 'candidate_id' | 'lever_version' | 'is_baseline'>;
type Fields = { [Field in keyof typeof leverFields]: z.output<(typeof leverFields)[Field]> };

/** The candidate whose prompt inference serves: the best, else the baseline. */
export function selectedCandidate({ jobId, projection }: Session): string {
  return projection.bestCandidateId ?? candidateId(jobId, 0);
}

/** Lever fields of a session; `candidates` are all of its candidates. */
export function leverView(job: Session, candidates: readonly Candidate[], components: ComponentLevers): Fields {
  const find = (id: string | null | undefined) => candidates.find(({ candidate_id }) => candidate_id === id) ?? null;
  const winner = find(job.projection.bestCandidateId);
  const selected = find(selectedCandidate(job));
  const baseline = candidates.find(({ is_baseline }) => is_baseline);
  const known = selected && { candidateId: selected.candidate_id, version: selected.lever_version };
  return {
    lever_summary: {
      prompt_lever_id: leverId(job.jobId, null),
      candidate_lever_versions: Object.fromEntries(candidates.map((c) => [c.candidate_id, c.lever_version])),
      best_candidate_id: winner?.candidate_id ?? null,
      selected_candidate_id: selected?.candidate_id ?? null,
      baseline_candidate_id: baseline?.candidate_id ?? null,
      lever_count: 1 + (components.get(selectedCandidate(job))?.length ?? 0),
      mutation_count: candidates.length - (baseline ? 1 : 0),
      latest_version: candidates.at(-1)?.lever_version ?? null,
    },
    lever_versions: known ? versionsOf(job.jobId, known, components) : {},
    best_lever_version: winner?.lever_version ?? null,
  };
}

/** A session's levers; `best` are the versions of its best candidate, by lever id. */
export function leverList(
  jobId: string,
  levers: readonly { name: string | null; latest: number | null }[],
  best: Readonly<Record<string, number>>,
): z.output<typeof leverListSchema> {
  return {
    data: levers.map(({ name, latest }) => {
      const id = leverId(jobId, name);
      return { lever_id: id, component: name, latest_version: latest, best_version: best[id] ?? null };
    }),
  };
}

/** A version in a list. */
export function versionItem(row: LeverVersion): z.output<typeof leverVersionItemSchema> {
  return { version: row.version, candidate_ids: row.candidateIds, created_at: iso(row.createdAt) };
}

/** A version with its content. */
export function versionView(
  jobId: string,
  component: string | null,
  row: LeverVersion,
): z.output<typeof leverVersionSchema> {
  return { lever_id: leverId(jobId, component), ...versionItem(row), ...versionContent(component, row) };
}

/** Content of a lever version: messages, demonstrations, or a component's text. */
function versionContent(component: string | null, { messages, demos }: LeverVersion) {
  if (component === null) return { component, messages: messages && renderPrompt(messages, demos) };
  if (component === demosPart) return { component: demosPart, messages: demos.flatMap(demoMessages) };
  return { component, text: componentTexts(messages)[component] ?? '' };
}
