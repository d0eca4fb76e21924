#include "node_list.h"

#include <stdlib.h>

enum { SHORT = 16, FIRST_ROOM = 4 };

static bool set_place(struct node_list *list, size_t index)
{
    return address_table_set(&list->places, (uint64_t)list->node[index], (void *)(index + 1));
}

/* The index of a node; list->count if the list does not have it. */
static size_t find(const struct node_list *list, const struct node *node)
{
    size_t i = 0;
    if (list->places.count > 0) {
        uintptr_t place = (uintptr_t)address_table_find(&list->places, (uint64_t)node);
        return place > 0 ? place - 1 : list->count;
    }
    while (i < list->count && list->node[i] != node) i++;
    return i;
}

/* Adds the new nodes to the table, which is made when the list becomes long. If host memory is
 * short, the table is dropped, and the list is searched instead. */
static void renew_places(struct node_list *list)
{
    if (list->count <= SHORT && list->places.count == 0) return;
    bool done = true;
    for (size_t i = list->places.count; i < list->count && done; i++) done = set_place(list, i);
    if (!done) address_table_close(&list->places);
}

static cudaError_t make_room(struct node_list *list)
{
    if (list->count < list->room) return cudaSuccess;
    size_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    struct node **grown = realloc(list->node, room * sizeof *grown);
    if (grown == NULL) return cudaErrorMemoryAllocation;
    list->node = grown;
    list->room = room;
    return cudaSuccess;
}

cudaError_t cudart_append(struct node_list *list, struct node *node)
{
    if (cudart_contains(list, node)) return cudaSuccess;
    cudaError_t error = make_room(list);
    if (error != cudaSuccess) return error;
    list->node[list->count++] = node;
    renew_places(list);
    return cudaSuccess;
}

bool cudart_contains(const struct node_list *list, const struct node *node)
{
    return find(list, node) < list->count;
}

bool cudart_remove(struct node_list *list, const struct node *node)
{
    size_t place = find(list, node);
    if (place == list->count) return false;
    struct node *last = list->node[--list->count];
    list->node[place] = last;
    if (list->places.count == 0) return true;
    address_table_remove(&list->places, (uint64_t)node); /* makes room for set_place */
    if (last != node) set_place(list, place);
    return true;
}

void cudart_clear(struct node_list *list)
{
    address_table_close(&list->places);
    list->count = 0;
}

void cudart_empty(struct node_list *list)
{
    cudart_clear(list);
    free(list->node);
    *list = (struct node_list){0};
}
