import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { nextInList, useRoving } from './hooks/use-roving.js';

export interface MenuItem {
  label: string;
  title?: string | undefined;
  isDanger?: boolean;
  /** A link; else `choose` acts. */
  href?: string;
}

/** A button with a menu: arrow keys move, Escape and a click beside it close it. */
export function Menu<Item extends MenuItem>(props: {
  label: ComponentChildren;
  items: readonly Item[];
  choose: (item: Item) => void;
}) {
  const { label, items, choose } = props;
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const ids = items.map((item) => item.label);
  const roving = useRoving(ids, nextInList(ids));
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const onPointerDown = ({ target }: PointerEvent) => {
      if (!box.current?.contains(target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', onPointerDown);
    return () => removeEventListener('pointerdown', onPointerDown);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' && !isOpen) setOpen(true);
    else if (event.key === 'Escape' && isOpen) close();
    else return isOpen ? roving.onKeyDown(event) : undefined;
    event.preventDefault();
  };
  const onFocusOut = ({ relatedTarget: to }: FocusEvent) => {
    if (to !== null && !box.current?.contains(to as Node)) setOpen(false);
  };
  const part = (item: Item) => ({
    role: 'menuitem' as const,
    class: item.isDanger ? 'menu-danger' : undefined,
    title: item.title,
    ...roving.part(item.label),
  });
  return (
    <div ref={box} class="menu-box" onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      <button
        ref={button}
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label} <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        <div class="menu" role="menu">
          {items.map((item) =>
            item.href === undefined ? (
              <button
                key={item.label}
                type="button"
                {...part(item)}
                onClick={() => {
                  close();
                  choose(item);
                }}
              >
                {item.label}
              </button>
            ) : (
              <a key={item.label} href={item.href} {...part(item)}>
                {item.label}
              </a>
            ),
          )}
        </div>
      )}
    </div>
  );
}
