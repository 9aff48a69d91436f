import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../util/format.js';
import { go } from '../../util/router.js';
import { Dialog } from '../dialog.js';
import { find, known, type Target } from './found.js';

const pauseMs = 150;

/** Goes to a page, run, data set or deployment by a part of its name or its id. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const { targets, problem, isAsking } = useTargets(text.trim());
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const current = Math.min(at, targets.length - 1);
  useEffect(() => input.current?.focus(), []);
  const open = (target: Target) => {
    onClose();
    go(target.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && targets.length > 0) setAt((current + step + targets.length) % targets.length);
    else if (event.key === 'Enter' && targets[current]) open(targets[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        ref={input}
        type="text"
        role="combobox"
        class="palette-input"
        aria-label="Page, run, data set or deployment"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={targets[current] ? `palette-${current}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="A part of a name, or an id"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Found">
        {targets.map((target, index) => (
          <li
            key={target.href}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => open(target)}
            onPointerMove={() => setAt(index)}
          >
            <bdi>{target.name}</bdi> <span class="quiet">{target.kind}</span>
          </li>
        ))}
      </ul>
      <p class="quiet palette-state" role="status">
        {problem ?? (isAsking ? 'Searching …' : targets.length === 0 ? 'Nothing has this name or id.' : '')}
      </p>
    </Dialog>
  );
}

function useTargets(text: string): { targets: Target[]; problem: string | null; isAsking: boolean } {
  const [answer, setAnswer] = useState<{ text: string | null; targets: Target[]; problem: string | null }>({
    text: null,
    targets: [],
    problem: null,
  });
  useEffect(() => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ask = () =>
      find(text, signal).then(
        (targets) => !signal.aborted && setAnswer({ text, targets, problem: null }),
        (error: unknown) => !signal.aborted && setAnswer({ text, targets: [], problem: messageOf(error) }),
      );
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [text]);
  const isAsking = answer.text !== text;
  const found = isAsking ? [] : answer.targets;
  const targets = new Map([...known(text), ...found].map((target) => [target.href, target]));
  return { targets: [...targets.values()], problem: isAsking ? null : answer.problem, isAsking };
}
