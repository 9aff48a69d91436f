import { useMemo } from 'preact/hooks';
import type { Author } from '../../../data/changes.js';
import { numberOf } from '../../../data/search.js';
import { nextInList, useRoving } from '../../../ui/hooks/use-roving.js';
import { route, setQuery } from '../../../util/router.js';
import { Evidence } from './evidence.js';

export interface Segment {
  component: string;
  text: string;
  introduced_by: string;
}

interface Sentence extends Segment {
  key: string;
}

/** The prompt with the author of each sentence, and the evidence of the one pointed at. */
export function Blame({ segments, authors }: { segments: readonly Segment[]; authors: readonly Author[] }) {
  const components = useMemo(() => sentencesOf(segments), [segments]);
  const all = components.flatMap(([, sentences]) => sentences);
  const ids = all.map(({ key }) => key);
  const roving = useRoving(ids, nextInList(ids));
  const chosen = route.value.query.get('sentence');
  const current = all.find(({ key }) => key === chosen);
  const byId = new Map(authors.map((author) => [author.candidate_id, author]));
  return (
    <div class="blame">
      <div class="prompt" onKeyDown={roving.onKeyDown}>
        {components.map(([component, sentences]) => (
          <div key={component} class="prompt-part" role="group" aria-label={`Message ${component}`}>
            <header class="prompt-part-head">
              <span class="prompt-role">{component}</span>
            </header>
            <p class="blame-text" dir="auto">
              {sentences.map((sentence) => (
                <BlameSentence
                  key={sentence.key}
                  sentence={sentence}
                  isCurrent={sentence === current}
                  part={roving.part(sentence.key)}
                />
              ))}
            </p>
          </div>
        ))}
      </div>
      <aside class="blame-aside" aria-live="polite" aria-label="Evidence">
        {current ? (
          <SentenceEvidence sentence={current} author={byId.get(current.introduced_by)} />
        ) : (
          <p class="quiet">Point at a sentence, tap it, or move with the arrow keys.</p>
        )}
      </aside>
    </div>
  );
}

function BlameSentence(props: {
  sentence: Sentence;
  isCurrent: boolean;
  part: ReturnType<ReturnType<typeof useRoving>['part']>;
}) {
  const { sentence, isCurrent, part } = props;
  const { key, text, introduced_by: author } = sentence;
  const isBaseline = author.endsWith('_0');
  const show = () => setQuery({ sentence: key });
  return (
    <>
      <span
        {...part}
        role="button"
        class={`blame-sentence ${isBaseline ? '' : 'blame-new'}`}
        aria-pressed={isCurrent}
        aria-label={`${text.trim()}, ${isBaseline ? 'baseline' : numberOf(author)}`}
        onFocus={() => {
          part.onFocus();
          show();
        }}
        onPointerEnter={(event) => event.pointerType === 'mouse' && show()}
        onClick={show}
        onKeyDown={(event) => event.key === 'Enter' && show()}
      >
        {text.trimEnd()}
      </span>
      {text.slice(text.trimEnd().length)}
    </>
  );
}

function SentenceEvidence({ sentence, author }: { sentence: Sentence; author: Author | undefined }) {
  return (
    <>
      <p class="blame-shown" dir="auto">
        {sentence.text.trim()}
      </p>
      {author ? <Evidence author={author} /> : <p class="quiet">{numberOf(sentence.introduced_by)}</p>}
    </>
  );
}

/** Components in order, with the sentences of each. */
function sentencesOf(segments: readonly Segment[]): [string, Sentence[]][] {
  return [...Map.groupBy(segments, ({ component }) => component)].map(([component, parts]) => [
    component,
    parts.map((segment, index) => ({ ...segment, key: `${component}:${index}` })),
  ]);
}
