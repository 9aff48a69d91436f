import { useState } from 'preact/hooks';

/** One tab stop for all parts of a drawing; `next` names the part where a key leads. */
export function useRoving(ids: readonly string[], next: (from: string, key: string) => string | undefined) {
  const [current, setCurrent] = useState<string | null>(null);
  const tabStop = current !== null && ids.includes(current) ? current : ids[0];
  return {
    /** For the element around the parts. */
    onKeyDown(event: KeyboardEvent) {
      const to = tabStop === undefined ? undefined : next(tabStop, event.key);
      if (to === undefined) return;
      event.preventDefault();
      (event.currentTarget as Element).querySelector<SVGElement>(`[data-id="${CSS.escape(to)}"]`)?.focus();
    },
    /** For each part. */
    part: (id: string) => ({
      'data-id': id,
      tabIndex: id === tabStop ? 0 : -1,
      onFocus: () => setCurrent(id),
    }),
  };
}

/** The neighbor in a list by arrow keys, Home and End. */
export function nextInList(ids: readonly string[]) {
  return (from: string, key: string): string | undefined => {
    const at = ids.indexOf(from);
    if (key === 'ArrowRight' || key === 'ArrowDown') return ids[at + 1];
    if (key === 'ArrowLeft' || key === 'ArrowUp') return ids[at - 1];
    if (key === 'Home') return ids[0];
    return key === 'End' ? ids.at(-1) : undefined;
  };
}
