import { computed, effect, signal } from '@preact/signals';

const stored = 'ratchet.theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const given = localStorage.getItem(stored) as Theme | null;
const theme = signal<Theme>(given !== null && themes.includes(given) ? given : 'auto');

const system = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(system.matches);
system.addEventListener('change', ({ matches }) => (isSystemDark.value = matches));

/** Whether the page is dark now. */
export const isDark = computed(() => (theme.value === 'auto' ? isSystemDark.value : theme.value === 'dark'));

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(stored, theme.value);
});

/** What the buttons call them. */
const names: Record<Theme, string> = { auto: 'system', light: 'light', dark: 'dark' };

/** Switches between the theme of the system, light and dark. */
export function ThemeButton() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
  return (
    <button
      type="button"
      class="button button-small"
      title={`Switch to ${names[next]}`}
      onClick={() => (theme.value = next)}
    >
      Theme: {names[theme.value]}
    </button>
  );
}
