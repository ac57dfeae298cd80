import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Redirect } from 'wouter';
import { queries } from '../../api/queries.ts';
import { Skeleton } from '../../ui/skeleton.tsx';

/** The bare address: setup as long as it is pending, else the overview; also when nobody can tell. */
export function FrontDoor(): ReactElement {
  const { data, isError } = useQuery(queries.setup);
  if (data === undefined && !isError) return <Skeleton lines={6} what="the view" />;
  return <Redirect to={data?.pending ? '/setup' : '/overview'} replace />;
}
