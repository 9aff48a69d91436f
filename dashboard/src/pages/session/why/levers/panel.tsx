import { useState } from 'preact/hooks';
import { useResource } from '../../../../data/resource.js';
import { here } from '../../../../util/router.js';
import { Clock, Field, Loading, Panel, Problem } from '../../../../ui/basics.js';
import { MarkedText } from '../../../../ui/changes/marked.js';
import { Prompt } from '../../../../ui/prompt.js';
import { VirtualList } from '../../../../ui/virtual-list.js';
import { numberOf } from '../../../../data/search.js';
import { all } from '../../../../../../src/client/index.js';
import { client } from '../../../../data/client.js';
import type { Lever, LeverText, LeverVersion } from '../../../../data/session/types.js';

/** As many candidates of a version are named. */
const namedCandidates = 4;

/** The texts of each component over time, and what changed between two of them. */
export function LeversPanel({ jobId, levers }: { jobId: string; levers: readonly Lever[] }) {
  const known = levers.filter(({ latest_version: latest }) => latest !== null);
  const [chosen, setChosen] = useState<string | null>(null);
  const lever = known.find(({ lever_id: id }) => id === chosen) ?? known[0];
  if (lever === undefined) return null;
  return (
    <Panel
      title="What the search changed"
      aside={
        <select aria-label="Text" value={lever.lever_id} onChange={(event) => setChosen(event.currentTarget.value)}>
          {known.map(({ lever_id: id, component }) => (
            <option key={id} value={id}>
              {component ?? 'Whole prompt'}
            </option>
          ))}
        </select>
      }
    >
      <p class="how">
        Each text that the search may change has versions; 0 is the baseline's. A version has its time and the
        candidates that have it. Below is what the second version adds to the first, and what it drops.
      </p>
      <Versions key={lever.lever_id} jobId={jobId} lever={lever} />
    </Panel>
  );
}

function Versions({ jobId, lever }: { jobId: string; lever: Lever }) {
  const { lever_id: id, latest_version: latest, best_version: best } = lever;
  const [from, setFrom] = useState(0);
  const [chosen, setTo] = useState<number | null>(null);
  const to = chosen ?? best ?? latest!;
  const path = { session_id: jobId, prompt_lever_id: id };
  const { data: versions, error } = useResource(`${id} ${latest}`, (signal) =>
    all(client.value.list('listSessionLeverVersions', { path, query: { limit: 200 }, signal })),
  );
  if (!versions) return error ? <Problem error={error} /> : <Loading />;
  return (
    <div class="levers">
      <VirtualList
        count={versions.length}
        rowHeight={28}
        height={`${Math.min(12, versions.length) * 28}px`}
        label="Versions"
        row={(index) => <VersionRow version={versions[index]!} isBest={versions[index]!.version === best} />}
      />
      <div>
        <div class="bar">
          <VersionField label="From" versions={versions} value={from} onChange={setFrom} />
          <VersionField label="To" versions={versions} value={to} onChange={setTo} />
        </div>
        <Difference jobId={jobId} leverId={id} from={from} to={to} />
      </div>
    </div>
  );
}

function VersionRow({ version, isBest }: { version: LeverVersion; isBest: boolean }) {
  const { candidate_ids: ids } = version;
  return (
    <div class="lever-version">
      <strong>{version.version}</strong>
      <Clock at={version.created_at} />
      <span class="pareto-holders">
        {isBest && 'best'}
        {ids.slice(0, namedCandidates).map((id) => (
          <a key={id} href={here({ candidate: id })}>
            {numberOf(id)}
          </a>
        ))}
        {ids.length > namedCandidates && <span class="quiet">and {ids.length - namedCandidates} more</span>}
      </span>
    </div>
  );
}

function VersionField(props: {
  label: string;
  versions: readonly LeverVersion[];
  value: number;
  onChange: (version: number) => void;
}) {
  return (
    <Field label={props.label}>
      <select value={props.value} onChange={(event) => props.onChange(Number(event.currentTarget.value))}>
        {props.versions.map(({ version, candidate_ids: ids }) => (
          <option key={version} value={version}>
            version {version} ({numberOf(ids[0]!)})
          </option>
        ))}
      </select>
    </Field>
  );
}

function Difference(props: { jobId: string; leverId: string; from: number; to: number }) {
  const { jobId, leverId, from, to } = props;
  const { data, error } = useResource(`${leverId} ${from} ${to}`, (signal) => {
    const load = (version: number) => {
      const path = { session_id: jobId, prompt_lever_id: leverId, version: String(version) };
      return client.value.request('getSessionLeverVersion', { path, signal });
    };
    return Promise.all([load(from), load(to)]);
  });
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  const [before, after] = data;
  if ('text' in before && 'text' in after) return <MarkedText before={before.text} after={after.text} />;
  return <Prompt messages={messagesOf(after)} before={messagesOf(before)} />;
}

const messagesOf = (text: LeverText) => ('messages' in text ? (text.messages ?? []) : []);
