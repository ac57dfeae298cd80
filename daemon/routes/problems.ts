import type { RouteDeps } from './deps.ts';

/** What is wrong with settings and slot files, each with file and line. */
export const allProblems = ({ settings, slots }: Pick<RouteDeps, 'settings' | 'slots'>) => [
  ...settings.problems(),
  ...slots.problems(),
];
