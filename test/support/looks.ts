import type { BrowserContextOptions } from 'playwright-core';

interface Look {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** The windows that walks through the dashboard are played in. */
export const looks: Look[] = [390, 1440, 2560].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

export const lookOptions = ({ width, colorScheme }: Look): BrowserContextOptions => ({
  viewport: { width, height: 900 },
  colorScheme,
});
