import { useMemo } from 'preact/hooks';
import { markedText, type MarkedSentence } from '../../../../src/core/prompts/changes/marked.js';
import type { WordPiece } from '../../../../src/core/prompts/changes/words.js';

/** Two texts as one: what was added, removed and moved, and the words that changed. */
export function MarkedText({ before, after }: { before: string; after: string }) {
  const marked = useMemo(() => markedText(before, after), [before, after]);
  if (before === after)
    return (
      <pre class="prompt-text quiet" dir="auto">
        {after || '(empty)'}
      </pre>
    );
  return (
    <pre class="prompt-text" dir="auto" tabIndex={0}>
      {marked.map((sentence, n) => (
        <span key={n}>
          {sentence.space}
          <Marked sentence={sentence} />
        </span>
      ))}
    </pre>
  );
}

function Marked({ sentence: { kind, text, words } }: { sentence: MarkedSentence }) {
  if (words !== null) return <Words pieces={words} />;
  if (kind === 'added') return <ins>{text}</ins>;
  if (kind === 'removed') return <del>{text}</del>;
  if (kind === 'moved')
    return (
      <span class="moved" title="moved">
        {text}
      </span>
    );
  return <>{text}</>;
}

/** The words of two texts in one. */
export function Words({ pieces }: { pieces: readonly WordPiece[] }) {
  return (
    <>
      {pieces.map(({ kind, text }, n) => {
        if (kind === 'added') return <ins key={n}>{text}</ins>;
        if (kind === 'removed') return <del key={n}>{text}</del>;
        return <span key={n}>{text}</span>;
      })}
    </>
  );
}
