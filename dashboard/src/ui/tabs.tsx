import type { ComponentChildren } from 'preact';
import { go, here, route, setQuery } from '../util/router.js';

/** The tab of the address, else the first. */
export function currentTab<Name extends string>(names: readonly Name[]): Name {
  const given = route.value.query.get('tab') as Name | null;
  return given !== null && names.includes(given) ? given : names[0]!;
}

const panelId = 'tab-panel';

/** What the current tab shows. */
export function TabPanel({ names, children }: { names: readonly string[]; children: ComponentChildren }) {
  return (
    <div role="tabpanel" id={panelId} aria-labelledby={`tab-${currentTab(names)}`}>
      {children}
    </div>
  );
}

/** Tabs of a page; the address names the one that is shown. Arrow keys move between them. */
export function Tabs<Name extends string>({ names, labels }: { names: readonly Name[]; labels: Record<Name, string> }) {
  const current = currentTab(names);
  const query = (name: Name) => ({ tab: name === names[0] ? null : name });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = (names.indexOf(current) + step + names.length) % names.length;
    // Arrow keys pass through tabs; only a click is a step to go back from.
    setQuery(query(names[index]!));
    (event.currentTarget as HTMLElement).querySelectorAll('button')[index]!.focus();
  };
  return (
    <div class="tabs" role="tablist" onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-controls={panelId}
          aria-selected={name === current}
          tabIndex={name === current ? 0 : -1}
          onClick={() => go(here(query(name)))}
        >
          {labels[name]}
        </button>
      ))}
    </div>
  );
}
