import type { ComponentChildren } from 'preact';
import { editKey, loadChanges, useAblations, type Ablation, type Changes } from '../../../data/changes.js';
import { useResource } from '../../../data/resource.js';
import { numberOf } from '../../../data/search.js';
import { Loading, Panel, Problem } from '../../../ui/basics.js';
import { EditList } from '../../../ui/changes/edit-list.js';
import { Choice } from '../../../ui/choice.js';
import { route, setQuery } from '../../../util/router.js';
import { AblationOf, ablationWords } from './ablation.js';
import { Blame, type Segment } from './blame.js';
import type { Copied } from './copy-forms.js';
import { CopyMenu } from './copy-menu.js';
import { EditAuthor, Together } from './evidence.js';

const views = { changes: 'Changes', clean: 'Clean', blame: 'Who wrote what' };
type View = keyof typeof views;

interface Props {
  title: string;
  jobId: string;
  candidate: { candidate_id: string; parent_ids: string[]; is_baseline: boolean; segments: readonly Segment[] };
  /** What stands above the prompt. */
  facts?: ComponentChildren;
  /** The prompt as it is. */
  clean: ComponentChildren;
  copy: Copied & { title: string; verdict: string | null };
}

/** The prompt of a candidate: clean, as a list of edits with evidence, and by author. */
export function PromptViews({ title, jobId, candidate, facts, clean, copy }: Props) {
  const { candidate_id: id, is_baseline: isBaseline } = candidate;
  const { query } = route.value;
  const given = query.get('view') as View | null;
  const view = isBaseline ? 'clean' : given !== null && given in views ? given : 'changes';
  const against = query.get('against') ?? 'baseline';
  const changes = useResource(`changes ${id} ${against}`, (signal) => loadChanges(jobId, id, against, signal));
  const ablations = useAblations(id, changes.data?.ablation ? changes.data.against_id : null);
  const known = ablations.data ?? new Map<string, Ablation>();
  const source = { ...copy, jobId, edits: reported(changes.data, known) };
  return (
    <Panel
      title={title}
      aside={
        <div class="actions">
          {!isBaseline && (
            <Choice
              label="View of the prompt"
              value={view}
              options={views}
              onChange={(next) => setQuery({ view: next === 'changes' ? null : next, sentence: null })}
            />
          )}
          <CopyMenu source={source} />
        </div>
      }
    >
      {facts}
      <Problem error={changes.error ?? ablations.error} />
      {view === 'clean' && clean}
      {view !== 'clean' && !changes.data && !changes.error && <Loading />}
      {view === 'changes' && changes.data && (
        <ChangesView changes={changes.data} candidate={candidate} ablations={known} onStarted={ablations.reload} />
      )}
      {view === 'blame' && changes.data && <Blame segments={candidate.segments} authors={changes.data.authors} />}
    </Panel>
  );
}

function ChangesView(props: {
  changes: Changes;
  candidate: Props['candidate'];
  ablations: ReadonlyMap<string, Ablation>;
  onStarted: () => Promise<void>;
}) {
  const { changes, candidate, ablations, onStarted } = props;
  const authors = authorsOf(changes);
  const named = new Set(changes.edits.map(({ author_id: id }) => id));
  return (
    <>
      <AgainstChoice candidate={candidate} againstId={changes.against_id} />
      {changes.total === 0 && !changes.is_equal && (
        <p class="quiet">Only white space or the order of messages differs.</p>
      )}
      <EditList edits={changes.edits} total={changes.total}>
        {(edit) => {
          const author = authors.get(edit.author_id ?? '');
          return (
            <>
              {author && <EditAuthor author={author} isRemoval={edit.kind === 'removed'} />}
              <AblationOf changes={changes} edit={edit} ablations={ablations} onStarted={onStarted} />
            </>
          );
        }}
      </EditList>
      <Together authors={[...authors.values()].filter(({ candidate_id: id }) => named.has(id))} />
    </>
  );
}

/** The earlier prompt: the baseline, a parent, or the one of the address. */
function AgainstChoice({ candidate, againstId }: { candidate: Props['candidate']; againstId: string }) {
  const { candidate_id: id, parent_ids: parents } = candidate;
  const baseline = `${id.slice(0, id.lastIndexOf('_'))}_0`;
  const options = Object.fromEntries(
    [...new Set([baseline, ...parents, againstId])].map((one) => [
      one,
      one === baseline
        ? 'Against baseline'
        : `Against ${parents.includes(one) ? 'parent ' : 'candidate '}${numberOf(one)}`,
    ]),
  );
  if (Object.keys(options).length < 2) return null;
  return (
    <Choice
      label="Compare the prompt with"
      value={againstId}
      options={options}
      onChange={(next) => setQuery({ against: next === baseline ? null : next })}
    />
  );
}

const authorsOf = ({ authors }: Changes) => new Map(authors.map((author) => [author.candidate_id, author]));

function reported(changes: Changes | undefined, ablations: ReadonlyMap<string, Ablation>) {
  if (!changes) return [];
  const authors = authorsOf(changes);
  return changes.edits.map((edit) => {
    const comparison = ablations.get(editKey(edit))?.comparison;
    return {
      edit,
      author: authors.get(edit.author_id ?? '') ?? null,
      ablation: comparison ? ablationWords(comparison) : null,
    };
  });
}
