import { words } from '../../format.js';
import { pageOf } from '../../router.js';
import { Time } from '../../ui/basics.js';
import { JobTitle } from '../../ui/job-title.js';
import { Actions } from './actions.js';
import type { Evaluation } from './types.js';

/** Which evaluation it is, what can be done with it, and what went wrong. */
export function Head({ job, onDone }: { job: Evaluation; onDone: () => Promise<unknown> }) {
  const { policy, candidate, dataset } = job;
  return (
    <>
      <div class="page-head">
        <div>
          <JobTitle job={job} />
          <p class="quiet evaluation-facts">
            <span>Evaluation</span>
            <span>
              {policy.provider}/{policy.model}
            </span>
            {dataset ? (
              <span title={dataset.dataset_id}>
                {dataset.num_rows} rows, scorer {words(dataset.scorer)}
              </span>
            ) : (
              <span>{job.env_name || job.container_url}</span>
            )}
            {candidate?.session_id && (
              <a href={pageOf(candidate.session_id, { candidate: candidate.candidate_id })}>candidate of a session</a>
            )}
            <span>
              created <Time at={job.created_at} />
            </span>
            <code>{job.job_id}</code>
            {job.temporal_url && <a href={job.temporal_url}>Temporal</a>}
          </p>
        </div>
        <Actions job={job} onDone={onDone} />
      </div>
      {job.notes && <p>{job.notes}</p>}
      {job.error !== null && (
        <p class="problem" role="alert">
          {job.error_details && <code>{job.error_details.code}</code>} {job.error}
        </p>
      )}
      {job.warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
    </>
  );
}
