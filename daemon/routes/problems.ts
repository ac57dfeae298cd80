import type { RouteDeps } from './deps.ts';

/** What is wrong with settings, slot files and upstream files, each with file and line. */
export const allProblems = ({
  settings,
  slots,
  upstreams,
}: Pick<RouteDeps, 'settings' | 'slots' | 'upstreams'>) => [
  ...settings.problems(),
  ...slots.problems(),
  ...upstreams.problems(),
];
