import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Redirect } from 'wouter';
import { queries } from '../../api/queries.ts';
import { Skeleton } from '../../ui/skeleton.tsx';

/** The root address. Redirects to setup while it is pending, else (also when that is unknown) to the overview. */
export function RootRedirect(): ReactElement {
  const { data, isError } = useQuery(queries.setup);
  if (data === undefined && !isError) return <Skeleton lines={6} what="the view" />;
  return <Redirect to={data?.pending ? '/setup' : '/overview'} replace />;
}
