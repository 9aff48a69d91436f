import { useState } from 'preact/hooks';
import { PromptLinks } from '../../job/candidate-links.js';
import { demosPart } from '../../../../../src/core/jobs/ids.js';
import { demoText, sentenceEdits } from '../../../../../src/core/prompts/changes/changes.js';
import { editsOfPrompt, withWords } from '../../../ui/changes/edits.js';
import { EditList, type ListedEdit } from '../../../ui/changes/edit-list.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { Panel, Problem } from '../../../ui/basics.js';
import { MarkedText } from '../../../ui/changes/marked.js';
import { Prompt } from '../../../ui/prompt.js';
import { ago, shortId } from '../../../util/format.js';
import type { Deployment, Listed, Snapshot } from '../../../data/deployment/types.js';

const listed = 100;

/** The frozen content of a version; beside another, what changed since. */
export function SnapshotPanel({ shown }: { shown: Deployment }) {
  const [other, setOther] = useState('');
  const { data: others, error } = useResource(`snapshots of ${shown.name} ${shown.snapshot_id}`, (signal) =>
    client.value.request('listDeployments', { query: { name: shown.name, limit: listed }, signal }),
  );
  const choices = (others?.deployments ?? []).filter(
    ({ id, snapshot_id: snapshot }) => id !== shown.id && snapshot !== null,
  );
  if (shown.snapshot_id === null) return null;
  return (
    <Panel
      title={other === '' ? 'Snapshot' : 'Difference of snapshots'}
      aside={<OtherChoice choices={choices} other={other} onChoose={setOther} />}
    >
      <Problem error={error} />
      {other === '' ? (
        <Content id={shown.snapshot_id} deploymentId={shown.id} />
      ) : (
        <Difference key={other} from={other} to={shown.snapshot_id} />
      )}
    </Panel>
  );
}

function OtherChoice(props: { choices: Listed[]; other: string; onChoose: (snapshot: string) => void }) {
  if (props.choices.length === 0) return null;
  return (
    <select
      aria-label="Compare with"
      value={props.other}
      onChange={(event) => props.onChoose(event.currentTarget.value)}
    >
      <option value="">Compare with …</option>
      {props.choices.map(({ id, snapshot_id: snapshot, live, created_at: created }) => (
        <option key={id} value={snapshot!}>
          {shortId(id)} · {ago(created)}
          {live ? ' · live' : ''}
        </option>
      ))}
    </select>
  );
}

const useSnapshot = (id: string) =>
  useResource(`snapshot ${id}`, (signal) => client.value.deployments.snapshot(id, { signal }));

function Content({ id, deploymentId }: { id: string; deploymentId: string }) {
  const { data, error } = useSnapshot(id);
  return (
    <>
      <Problem error={error} />
      {data?.kind === 'messages' && (
        <>
          <PromptLinks id={deploymentId} candidateId={null} again="Optimize it" />
          <Prompt messages={data.messages} />
          {data.demos.length > 0 && <Demos demos={data.demos} />}
        </>
      )}
      {data?.kind === 'graph' && <pre>{data.graph_txt}</pre>}
      {data && <p class="quiet snapshot-note">{modelText(data)}</p>}
    </>
  );
}

function modelText(snapshot: Snapshot): string {
  const policies = snapshot.kind === 'messages' ? [snapshot.policy] : snapshot.policies;
  const models = policies.map(({ provider, model, ...more }) => {
    const fields = Object.entries(more).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    return [`${provider}/${model}`, ...fields].join(', ');
  });
  return `${models.join('; ')} · ${shortId(snapshot.snapshot_id)}`;
}

function Demos({ demos }: { demos: Extract<Snapshot, { kind: 'messages' }>['demos'] }) {
  return (
    <details class="form-more">
      <summary>{demos.length} demonstrations</summary>
      {demos.map(({ component, ordinal, input, output }) => (
        <pre key={`${component} ${ordinal}`} class="demo" dir="auto">
          {input}
          {'\n→ '}
          {output}
        </pre>
      ))}
    </details>
  );
}

type Messages = Extract<Snapshot, { kind: 'messages' }>;

function listedEdits(before: Messages, after: Messages): ListedEdit[] {
  const ofDemos = sentenceEdits(demosPart, before.demos.map(demoText), after.demos.map(demoText));
  return [...editsOfPrompt(before.messages, after.messages), ...withWords(ofDemos)];
}

/** Prompts by sentences; the parts that are no texts of a model as unified diffs. */
function Difference({ from, to }: { from: string; to: string }) {
  const before = useSnapshot(from);
  const after = useSnapshot(to);
  const { data, error } = useResource(`difference ${from} ${to}`, (signal) =>
    client.value.request('compareSnapshots', { path: { snapshot_id: from, other: to }, signal }),
  );
  const [old, now] = [before.data, after.data];
  const others = data?.parts.filter(({ part }) => !part.startsWith('messages') && part !== 'graph') ?? [];
  return (
    <>
      <Problem error={error ?? before.error ?? after.error} />
      {data?.identical && <p class="quiet">Both have the same content.</p>}
      {old?.kind === 'messages' && now?.kind === 'messages' && (
        <>
          <EditList edits={listedEdits(old, now)} />
          <Prompt messages={now.messages} before={old.messages} />
        </>
      )}
      {old?.kind === 'graph' && now?.kind === 'graph' && <MarkedText before={old.graph_txt} after={now.graph_txt} />}
      {others.map(({ part, change, diff }) => (
        <details key={part} class="form-more">
          <summary>
            {part} {change}
          </summary>
          <pre>{diff}</pre>
        </details>
      ))}
    </>
  );
}
