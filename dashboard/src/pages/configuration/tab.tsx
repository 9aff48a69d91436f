import { kindOfRun } from '../../data/kinds.js';
import { readRequest, type JobRequest } from '../../data/request.js';
import { numberOf, type SearchJob } from '../../data/search.js';
import { useResource } from '../../data/resource.js';
import { Badge, Loading, Panel, Problem, Time } from '../../ui/basics.js';
import { Choice } from '../../ui/choice.js';
import { Copy } from '../../ui/copy.js';
import { datasetName } from '../../ui/dataset-link.js';
import { Prompt } from '../../ui/prompt.js';
import { count, shortId } from '../../util/format.js';
import { link, pageOf, route, setQuery } from '../../util/router.js';
import { againLink, evaluateLink } from '../new/form/original.js';
import { copyText, forms, type Form } from './copy-as.js';
import { sectionsOf, splitWords, type Fact } from './sections.js';

type SeedSplit = NonNullable<SearchJob['split']>;

/** The request of a run: to read, to copy, and to change for another run. */
export function ConfigurationTab({ jobId, split }: { jobId: string; split?: SeedSplit | undefined }) {
  const { data, error } = useResource(`request ${jobId}`, (signal) => readRequest(jobId, null, signal));
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  return (
    <>
      <Problem error={error} />
      {data.request === null ? (
        <p class="note">
          A deployment, a migration, a checkup or a try of a graph made this run, so there is no request to send again.
        </p>
      ) : (
        <Request read={data} request={data.request} split={split} />
      )}
      {data.prompt && <PromptPanel read={data} messages={data.prompt} />}
      {data.request !== null && <CopyPanel read={data} request={data.request} />}
      <Family read={data} />
    </>
  );
}

interface RequestProps {
  read: JobRequest;
  request: Record<string, unknown>;
}

function Request({ read, request, split }: RequestProps & { split?: SeedSplit | undefined }) {
  return (
    <Panel
      title="Request"
      aside={
        <a class="button" href={againLink(read.job_id)}>
          Edit and run
        </a>
      }
    >
      <div class="configuration">
        {sectionsOf(request).map(({ title, facts }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl class="facts">
              {facts.map((fact) => (
                <div key={fact.pointer}>
                  <dt>{fact.label}</dt>
                  <dd dir="auto" title={fact.pointer}>
                    <Value fact={fact} dataset={read.dataset} />
                  </dd>
                </div>
              ))}
              {title === 'Data' && split && <SplitFact split={split} />}
            </dl>
          </section>
        ))}
      </div>
      {read.omitted.length > 0 && <p class="quiet">Sent, and never returned: {read.omitted.join(', ')}.</p>}
    </Panel>
  );
}

function Value({ fact, dataset }: { fact: Fact; dataset: JobRequest['dataset'] }) {
  if (!dataset || !fact.pointer.endsWith('/dataset_id')) return <>{fact.value}</>;
  return (
    <>
      <a href={link(['datasets', dataset.dataset_id])} title={dataset.dataset_id}>
        {datasetName(dataset)}, {count(dataset.num_rows)} rows
      </a>{' '}
      <Copy text={dataset.dataset_id} label="Copy its id" />
    </>
  );
}

function SplitFact({ split }: { split: SeedSplit }) {
  return (
    <div>
      <dt>Split</dt>
      <dd>{splitWords(split)}</dd>
    </div>
  );
}

/** The prompt that a run begins with, or that an evaluation runs. */
function PromptPanel({ read, messages }: { read: JobRequest; messages: NonNullable<JobRequest['prompt']> }) {
  const { job_id: id, request } = read;
  const isEvaluation = kindOfRun(id) === 'evaluation';
  const elsewhere = request !== null && (
    <a class="button button-small" href={isEvaluation ? againLink(id) : evaluateLink(id)}>
      Evaluate on …
    </a>
  );
  return (
    <Panel title={isEvaluation ? 'Evaluated prompt' : 'First prompt'} aside={elsewhere}>
      <Prompt messages={messages} />
    </Panel>
  );
}

/** Characters. A graph job's request holds its tasks. */
const mostShown = 20_000;

function CopyPanel({ read, request }: RequestProps) {
  const given = route.value.query.get('as') as Form | null;
  const form = given !== null && given in forms ? given : 'curl';
  const sent = { kind: kindOfRun(read.job_id), jobId: read.job_id, request, omitted: read.omitted };
  const text = copyText(form, location.origin, sent);
  return (
    <Panel
      title="Send it again"
      aside={
        <div class="actions">
          <Choice
            label="Form of the request"
            value={form}
            options={forms}
            onChange={(next) => setQuery({ as: next === 'curl' ? null : next })}
          />
          <Copy text={text} />
        </div>
      }
    >
      <pre class="configuration-text" tabIndex={0}>
        {text.slice(0, mostShown)}
      </pre>
      {text.length > mostShown && <p class="quiet">Cut here; Copy has all of it.</p>}
      {form !== 'json' && (
        <p class="quiet">
          <code>RATCHET_API_KEY</code> is a key with the scope write.
        </p>
      )}
    </Panel>
  );
}

/** The run that this one was made from, and those that were made from it. */
function Family({ read: { branched_from: origin, branches } }: { read: JobRequest }) {
  if (origin === null && branches.length === 0) return null;
  return (
    <Panel title="Origin and branches">
      {origin && (
        <p>
          Made <Origin origin={origin} />
        </p>
      )}
      <ul class="log" aria-label="Runs made from this one">
        {branches.map(({ job_id: id, name, status, candidate_id: candidate, created_at: at }) => (
          <li key={id}>
            <Time at={at} /> <a href={pageOf(id)}>{name ?? shortId(id)}</a> <Badge status={status} />
            {candidate !== null && <span class="quiet"> from candidate {numberOf(candidate)}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The run, and the candidate of it, that a run was made from. */
export function Origin({ origin }: { origin: NonNullable<JobRequest['branched_from']> }) {
  const { job_id: id, candidate_id: candidate } = origin;
  return (
    <span>
      from{' '}
      <a href={pageOf(id, { candidate })}>
        {candidate === null ? shortId(id) : `candidate ${numberOf(candidate)} of ${shortId(id)}`}
      </a>
    </span>
  );
}
