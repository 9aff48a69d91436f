import type { Answer } from '../../../../src/client/index.js';
import { isTerminal } from '../../../../src/core/jobs/status.js';
import { client } from '../../data/client.js';
import { useUntilEnded } from '../../data/until-ended.js';
import { ActionButton, Badge, Loading, Panel, Problem, Stat, Stats, Time } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Heading } from '../../ui/heading.js';
import { IntervalBar } from '../../ui/charts/interval-bar.js';
import { dollars, reward, shortId } from '../../util/format.js';
import { compareLink } from '../../util/compare-link.js';
import { link, pageOf } from '../../util/router.js';
import { StepsPanel } from '../job/steps-panel.js';
import { WorsePanel } from '../job/worse-panel.js';
import { VerdictBadge } from './verdict-badge.js';

type Checkup = Answer<'getCheckup'>;

/** A check of what a name serves: its parts, the better prompt, and who decides on it. */
export function CheckupPage({ id }: { id: string }) {
  const { data, error, reload } = useUntilEnded(id, (signal) => client.value.checkups.handle(id).get({ signal }));
  if (!data)
    return (
      <>
        <Problem error={error} />
        {!error && <Loading />}
      </>
    );
  const { rows, traffic, improvement, warnings } = data;
  const worse = data.worse.map(({ baseline_reward: before, baseline_output: outputBefore, ...row }) => ({
    ...row,
    before,
    outputBefore,
  }));
  return (
    <>
      <Head checkup={data} onChange={reload} />
      <Problem error={error ?? data.error} />
      {warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
      <Approval checkup={data} onChange={reload} />
      {rows && <PartPanel title="Rows" part={rows} />}
      {traffic && <PartPanel title="Recent requests" part={traffic} />}
      {improvement && <ImprovementPanel improvement={improvement} live={traffic?.job_id ?? null} />}
      <StepsPanel job={data} />
      <WorsePanel rows={worse} heads={['Then', 'Now']} />
    </>
  );
}

interface Changing {
  checkup: Checkup;
  onChange: () => Promise<void>;
}

function Head({ checkup, onChange }: Changing) {
  const { job_id: id, name, status, created_at: created, checkup_number: number, deployment } = checkup;
  const cancel = async () => {
    await client.value.checkups.handle(id).cancel();
    await onChange();
  };
  return (
    <>
      <div class="page-head">
        <Heading title={`Checkup of ${name}`}>
          <span>
            <a href={link(['deployments'])}>Deployments</a> / <a href={link(['deployments', name!])}>{name}</a> /
            checkup
          </span>
          <VerdictBadge checkup={checkup} />
        </Heading>
        {!isTerminal(status) && (
          <div class="actions">
            <ConfirmButton
              label="Cancel"
              title="Cancel this checkup?"
              answers={['Cancel the checkup', 'Keep it']}
              kind="danger"
              run={cancel}
            >
              <p>The job that it waits for ends, too. What it has found stays.</p>
            </ConfirmButton>
          </div>
        )}
      </div>
      <p class="quiet">
        Of <a href={pageOf(deployment)}>{shortId(deployment)}</a>, <span class="mono">{shortId(id)}</span>
        {number !== null && `, comparison ${number} of this version`}, created <Time at={created} />, cost{' '}
        {dollars(checkup.total_cost_usd)}
        {checkup.max_cost_usd !== null && ` of ${dollars(checkup.max_cost_usd)}`}
      </p>
    </>
  );
}

/** What a person decides, or has decided. */
function Approval({ checkup: { job_id: id, name, approval }, onChange }: Changing) {
  if (approval === null) return null;
  const decide = (approve: boolean) => async () => {
    await client.value.checkups.handle(id).decide({ approve });
    await onChange();
  };
  return (
    <Panel title="Approval" aside={<Badge status={approvalColors[approval]} text={approval} />}>
      {approval === 'pending' ? (
        <>
          <p>The new prompt is better on recent requests. Once approved it is rolled out under {name}.</p>
          <div class="actions">
            <ActionButton kind="primary" run={decide(true)}>
              Approve
            </ActionButton>
            <ConfirmButton label="Reject" title="Reject the new prompt" run={decide(false)} kind="danger">
              <p>{name} keeps what it serves. Its session stays.</p>
            </ConfirmButton>
          </div>
        </>
      ) : (
        <p class="quiet">{approvalWords[approval]}</p>
      )}
    </Panel>
  );
}

const approvalColors = { pending: 'paused', approved: 'succeeded', rejected: 'failed', expired: 'cancelled' };
const approvalWords = {
  approved: 'The new prompt was approved, and has a deployment of its own.',
  rejected: 'The new prompt was rejected.',
  expired: 'The name serves something else by now than what the new prompt was compared with.',
};

function PartPanel({ title, part }: { title: string; part: NonNullable<Checkup['rows']> }) {
  const { job_id: id, verdict, rows, scorer, baseline, difference, difference_interval: interval, p_value: p } = part;
  return (
    <Panel title={title} aside={<Badge status={verdict} />}>
      <Stats>
        {baseline && (
          <Stat name="Then">
            <a href={pageOf(baseline.job_id)}>{reward(baseline.reward)}</a>
          </Stat>
        )}
        <Stat name="Now">
          <a href={pageOf(id)}>{reward(part.reward)}</a>
        </Stat>
        {p !== null && <Stat name="p-value">{p.toPrecision(2)}</Stat>}
        {part.rows_worse > 0 && <Stat name="Worse">{part.rows_worse}</Stat>}
      </Stats>
      {difference !== null && interval && <IntervalBar label="Now minus then" value={difference} {...interval} />}
      <p class="quiet">
        {rows} rows, scorer {scorer}
        {!baseline && '. There was nothing to compare with: later checkups compare with this one.'}
      </p>
    </Panel>
  );
}

function ImprovementPanel(props: { improvement: NonNullable<Checkup['improvement']>; live: string | null }) {
  const { improvement, live } = props;
  const {
    job_id: id,
    session_id: session,
    verdict,
    rows,
    today,
    difference,
    difference_interval: interval,
  } = improvement;
  return (
    <Panel title="New prompt" aside={<Badge status={verdict} />}>
      <Stats>
        <Stat name="Live">{reward(today.reward)}</Stat>
        <Stat name="New">{reward(improvement.reward)}</Stat>
      </Stats>
      <IntervalBar label="New minus live" value={difference} {...interval} />
      <p class="actions">
        <span class="quiet">{rows} requests</span>
        <a href={pageOf(session, { tab: 'prompt' })}>The prompt</a>
        <a href={compareLink(...(live === null ? [id] : [live, id]))}>Row by row</a>
      </p>
    </Panel>
  );
}
