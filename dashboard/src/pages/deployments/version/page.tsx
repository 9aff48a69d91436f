import { DatasetLink } from '../../../ui/dataset-link.js';
import { makerOf, shortId } from '../../../util/format.js';
import { link, pageOf } from '../../../util/router.js';
import { Badge, Loading, Panel, Problem, Time } from '../../../ui/basics.js';
import { CopyId } from '../../../ui/copy.js';
import { FirstNumber } from '../../../ui/first-number.js';
import { Heading } from '../../../ui/heading.js';
import { ChangesPanel } from './changes-panel.js';
import { CheckupsPanel } from './checkups-panel.js';
import { RetiresBadge } from '../../../ui/retires-badge.js';
import { CallPanel } from './call-panel.js';
import { DeploymentActions } from './actions.js';
import { DeploymentEvents } from './events.js';
import { useDeployment } from '../../../data/deployment/follow.js';
import { rewardOf } from '../../../data/deployment/reward.js';
import type { Deployment } from '../../../data/deployment/types.js';
import { ReviewQueuePanel } from './review-panel.js';
import { RolloutPanel } from './rollout-panel.js';
import { DeploymentStats } from './stats.js';
import { demandWords, findingWords } from './versions.js';
import { SnapshotPanel } from './snapshot-panel.js';
import { TrafficPanel } from './traffic-panel.js';
import { VersionsPanel } from './versions-panel.js';

/** A version of a name; a name stands for what it serves, else for its newest version. */
export function DeploymentPage({ id }: { id: string }) {
  const { data, error, reload } = useDeployment(id);
  if (!data)
    return (
      <>
        <Problem error={error} />
        {!error && <Loading />}
      </>
    );
  return (
    <>
      <Head deployment={data} onChange={reload} />
      <Problem error={error} />
      <Problem error={data.error} />
      {data.warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
      <RolloutPanel deployment={data} onChange={reload} />
      <DeploymentStats key={data.id} id={data.id} isCallable={isCallable(data)} />
      <div class="grid">
        <GatePanel deployment={data} />
        <CallPanel name={data.name} />
      </div>
      <CheckupsPanel key={`checkups ${data.name}`} name={data.name} />
      <TrafficPanel key={`traffic ${data.id}`} id={data.id} name={data.name} isCallable={isCallable(data)} />
      <ReviewQueuePanel key={`reviews ${data.id}`} id={data.id} isKept={data.log !== null} />
      <VersionsPanel key={data.name} shown={data} />
      <ChangesPanel key={`changes ${data.name}`} deployment={data} />
      <SnapshotPanel key={`snapshot ${data.id}`} shown={data} />
      <DeploymentEvents key={`events ${data.id}`} id={data.id} />
    </>
  );
}

/** Whether calls come: an archived version that its name no longer serves is read once. */
const isCallable = ({ status, live, archived }: Deployment) =>
  status === 'rolling_out' || (status === 'ready' && (live || !archived));

function Head({ deployment, onChange }: { deployment: Deployment; onChange: () => Promise<void> }) {
  const {
    id,
    name,
    version,
    labels,
    live,
    status,
    retires,
    source,
    created_at: created,
    created_by: by,
    reason,
  } = deployment;
  const origin = source.session_id ?? source.graph_job_id ?? source.deployment_id;
  const others = labels.filter((label) => label !== 'production');
  return (
    <>
      <div class="page-head">
        <Heading title={name}>
          <span>
            <a href={link(['deployments'])}>Deployments</a> / {name}
          </span>
          <Badge status={live ? 'live' : status} /> <RetiresBadge retires={retires} />
        </Heading>
        <DeploymentActions deployment={deployment} onChange={onChange} />
      </div>
      <FirstNumber of={rewardOf(deployment)} />
      <p class="quiet">
        Version {version}, <CopyId id={id} />, created <Time at={created} />
        {by && ` by ${makerOf(by)}`}
        {origin && (
          <>
            , from <a href={pageOf(origin)}>{shortId(origin)}</a>
          </>
        )}
        {others.length > 0 && `, labels ${others.join(', ')}`}
      </p>
      {reason !== null && <p class="quiet">{reason}</p>}
    </>
  );
}

function GatePanel({ deployment: { gate, version } }: { deployment: Deployment }) {
  const verdict = gate === null || gate.passed === null ? null : gate.passed ? 'passed' : 'not passed';
  return (
    <Panel title="Gate" aside={verdict && <Badge status={gate!.passed ? 'succeeded' : 'failed'} text={verdict} />}>
      {gate === null ? (
        <p class="quiet">
          This version went live without a gate{version > 1 && ': nothing compared it with the one before'}.
        </p>
      ) : (
        <>
          <p>{demandWords(gate)}</p>
          <p>{findingWords(gate)}</p>
          <p class="actions">
            {gate.candidate && <a href={pageOf(gate.candidate.job_id)}>Evaluation of the candidate</a>}
            {gate.incumbent && <a href={pageOf(gate.incumbent.job_id)}>Evaluation of the one before</a>}
            {gate.dataset && (
              <span class="quiet">
                <DatasetLink dataset={gate.dataset} />, {gate.dataset.num_rows} rows, scorer {gate.dataset.scorer}
              </span>
            )}
          </p>
        </>
      )}
    </Panel>
  );
}
