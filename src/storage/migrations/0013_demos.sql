-- What a candidate shows its model beside its texts: [{component, seed, ordinal, input, output}], in order. null: candidates of a search
-- that knows no demonstrations.
alter table candidates add column demos jsonb;
