import { useEffect } from 'preact/hooks';
import { health, healthError, watchHealth, type Health, type OpenJob } from '../../data/health/health.js';
import { commandAll } from '../../data/health/bulk.js';
import { troubles } from '../../data/health/words.js';
import { Clock, Loading, Problem } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Heading } from '../../ui/heading.js';
import { DeploymentsPanel } from './deployments-panel.js';
import { JobNames } from './job-names.js';
import { JobsPanel } from './jobs-panel.js';
import { ProvidersPanel } from './providers-panel.js';
import { ServicePanel } from './service-panel.js';

/** What is slow or failing, who is affected, and what stops it. */
export function NowPage() {
  useEffect(watchHealth, []);
  const known = health.value;
  return (
    <>
      <div class="page-head">
        <Heading title="Now" />
        {known && <ResumeAll jobs={known.jobs} />}
      </div>
      <Problem error={healthError.value} />
      {!known && !healthError.value && <Loading />}
      {known && <Found known={known} />}
    </>
  );
}

function Found({ known }: { known: Health }) {
  const all = troubles(known);
  return (
    <>
      <p class={all.length === 0 ? 'now-line good' : 'now-line'} role="status">
        {all.length === 0 ? 'All is well' : all.join(' · ')} <Clock at={known.at} />
      </p>
      <ProvidersPanel known={known} />
      <JobsPanel known={known} />
      <DeploymentsPanel known={known} />
      <ServicePanel known={known} />
    </>
  );
}

function ResumeAll({ jobs }: { jobs: readonly OpenJob[] }) {
  const paused = jobs.filter(({ status }) => status === 'paused');
  if (paused.length === 0) return null;
  const ids = paused.map(({ job_id: id }) => id);
  return (
    <ConfirmButton label="Resume all" title={`Resume ${paused.length} jobs`} run={() => commandAll('resume', ids)}>
      <JobNames jobs={paused} />
    </ConfirmButton>
  );
}
